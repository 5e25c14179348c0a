"""What a worker logs about a real run, in JSON."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.kinds import Scope
from deploy.local import ports
from hub import Hub
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.servers import Servers
from tests.support.workers import worker_process
from tests.workflows.runs import reaches, started


@pytest.fixture(scope="module")
async def kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of a hub without runs of other tests, which the worker would take over."""
    async with servers.own_hub() as server:
        yield server.kubeconfig


@pytest.fixture(scope="module")
async def log(
    kubeconfig: Path, temporal_address: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Path]:
    """Log of a worker that is ready."""
    path = tmp_path_factory.mktemp("worker") / "worker.log"
    address = f"127.0.0.1:{ports.choose()}"
    with worker_process(
        path,
        KUBECONFIG=str(kubeconfig),
        TEMPORAL_ADDRESS=temporal_address,
        FLEETGATE_RUN="engine,bridge",
        FLEETGATE_TASK_QUEUE=address,
        FLEETGATE_METRICS_ADDRESS=address,
        FLEETGATE_LOG_FORMAT="json",
    ):
        await says(path, "ready")
        yield path


async def says(log: Path, message: str, *, run: str | None = None) -> list[dict[str, Any]]:
    """Wait until a message is logged about a run, and return all lines about it."""

    async def lines() -> list[dict[str, Any]]:
        return [line for line in read(log) if line.get("run") == run]

    return await eventually(
        lines,
        lambda found: any(line["message"].startswith(message) for line in found),
    )


@pytest.fixture
async def placement(kubeconfig: Path, scope: Scope, unique: str) -> AsyncIterator[HandPlacement]:
    async with await Hub.connect(kubeconfig) as client:
        yield HandPlacement(client, scope, unique, namespace=unique if scope.run.namespaced else "")


def read(log: Path) -> list[dict[str, Any]]:
    # Text after the last newline is still being written.
    *lines, _ = log.read_text().split("\n")
    return [json.loads(line) for line in lines]


def told(lines: list[dict[str, Any]], message: str) -> dict[str, Any]:
    """Return the fields that all lines with a message share; an activity may have been retried."""
    names = ("namespace", "run", "stage", "cluster", "activity")
    said = [line for line in lines if line["message"].startswith(message)]
    (found,) = {tuple(line.get(name) for name in names) for line in said}
    return dict(zip(names, found, strict=True))


async def test_each_line_about_a_run_names_its_run_stage_and_cluster(
    placement: HandPlacement, log: Path, unique: str
) -> None:
    await placement.create({unique: {"env": unique}})
    selector = {"matchLabels": {"env": unique}}
    await placement.strategy(unique, [{"name": "prod", "labelSelector": selector}])
    await placement.create_run(unique, unique, index="0")
    await started(placement, unique)
    await placement.report(unique)
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")

    lines = await says(log, "Succeeded", run=unique)
    run = {"namespace": placement.namespace or None, "run": unique}
    cluster = run | {"stage": "prod", "cluster": unique}
    binding = f"binding {placement.binding_name(unique)} has snapshot 0"
    assert told(lines, binding) == cluster | {"activity": "update_cluster"}
    assert told(lines, "cluster is done") == cluster | {"activity": "follow_bindings"}
    nowhere = {"stage": None, "cluster": None}
    assert told(lines, "Succeeded") == run | nowhere | {"activity": "record_events"}


async def test_other_lines_name_no_run(log: Path) -> None:
    ready = told(read(log), "ready")
    assert ready == dict.fromkeys(ready)
