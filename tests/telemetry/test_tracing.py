"""Traces of a real run, as a collector gets them."""

import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import worker
from api.kinds import CLUSTER_SCOPE
from deploy.installing import crds
from deploy.local import ports
from hub import Hub
from telemetry import TracingError, start_tracing
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.servers import Servers
from tests.support.workers import worker_process
from tests.workflows.runs import reaches, started


class Collector:
    """An OTLP collector over HTTP that remembers what it received."""

    def __init__(self) -> None:
        self.port = ports.choose()
        self.services: set[str] = set()
        self.traces: defaultdict[bytes, set[str]] = defaultdict(set)
        """Names of the spans in each trace."""

    async def take(self, request: web.Request) -> web.Response:
        sent = ExportTraceServiceRequest.FromString(await request.read())
        for each in sent.resource_spans:
            self.services |= {
                attribute.value.string_value
                for attribute in each.resource.attributes
                if attribute.key == "service.name"
            }
            for scope in each.scope_spans:
                for span in scope.spans:
                    self.traces[span.trace_id].add(span.name)
        return web.Response()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Listen while the context is open, and yield the address."""
        application = web.Application()
        application.add_routes([web.post("/v1/traces", self.take)])
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        yield f"http://127.0.0.1:{self.port}"
        await runner.cleanup()


async def test_a_run_is_one_trace_from_its_start_through_its_clusters(
    servers: Servers, temporal_address: str, unique: str, tmp_path: Path
) -> None:
    server = await servers.started_api_server()
    collector = Collector()
    address = f"127.0.0.1:{ports.choose()}"
    async with await Hub.connect(server.kubeconfig) as hub, collector.listening() as endpoint:
        await crds.install(hub, crds.definitions())
        with worker_process(
            tmp_path / "worker.log",
            KUBECONFIG=str(server.kubeconfig),
            TEMPORAL_ADDRESS=temporal_address,
            FLEETGATE_RUN="engine,bridge",
            FLEETGATE_TASK_QUEUE=unique,
            FLEETGATE_METRICS_ADDRESS=address,
            FLEETGATE_TRACING="otlp",
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            OTEL_BSP_SCHEDULE_DELAY="100",
        ):
            await roll_out(HandPlacement(hub, CLUSTER_SCOPE, unique), unique)
            of_run = {"StartWorkflow:UpdateRun", "RunWorkflow:UpdateRun", "RunActivity:survey"}
            of_run |= {"StartActivity:update_cluster", "RunActivity:update_cluster"}

            async def traces() -> list[set[str]]:
                return list(collector.traces.values())

            await eventually(traces, lambda found: any(of_run <= spans for spans in found))
    await server.kill()
    assert collector.services == {"fleetgate"}


async def roll_out(placement: HandPlacement, name: str) -> None:
    await placement.create({name: {"env": name}})
    selector = {"matchLabels": {"env": name}}
    await placement.strategy(name, [{"name": "prod", "labelSelector": selector}])
    await placement.create_run(name, name, index="0")
    await eventually(lambda: placement.read_run(name), lambda run: "status" in run)
    await started(placement, name)
    await placement.report(name)
    await reaches(placement, name, "UpdateRunSucceeded", kind="Succeeded")


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate an environment in which the extra is not installed."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)


@pytest.mark.usefixtures("without_packages")
def test_without_its_packages_tracing_says_how_to_install_them() -> None:
    with pytest.raises(TracingError, match=r"FLEETGATE_TRACING is 'otlp'.*fleetgate\[tracing\]"):
        start_tracing()


@pytest.mark.usefixtures("without_packages")
def test_a_worker_without_the_packages_exits_with_a_one_line_error(
    hub_kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(hub_kubeconfig))
    monkeypatch.setenv("FLEETGATE_TRACING", "otlp")
    monkeypatch.setenv("FLEETGATE_METRICS_ADDRESS", f"127.0.0.1:{ports.choose()}")
    with pytest.raises(SystemExit) as ended:
        worker.main()
    assert str(ended.value.code).startswith("error: FLEETGATE_TRACING is 'otlp', but opentelemetry")


def test_the_name_of_the_service_can_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "rollouts")
    tracer = start_tracing()
    tracer.close()
    assert tracer.interceptor.tracer.resource.attributes["service.name"] == "rollouts"  # type: ignore[attr-defined]
