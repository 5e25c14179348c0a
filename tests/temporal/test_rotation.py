"""Credentials for Temporal that change on disk are used without a restart."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.service import RPCError

from deploy.local import ports
from telemetry import TemporalMetrics
from tests.support.eventually import eventually
from tests.support.guarded_temporal import Authority, Pair, guarded
from tests.support.hand_placement import HandPlacement
from tests.support.running import running
from tests.support.workers import answers_ready, worker_process
from tests.temporal.test_encryption import new_key
from tests.workflows.runs import reaches, started
from wiring import Settings
from wiring.connection import Connection
from wiring.temporal import reach


class Certificates:
    """The certificates with which a worker connects to a guarded Temporal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ca, self.certificate, self.key = (
            folder / name for name in ("ca.crt", "tls.crt", "tls.key")
        )

    def renew(self, name: str) -> tuple[Pair, Path]:
        """Replace all certificates with ones from new authorities.

        Return the server's pair, and the authority that clients' certificates must be signed by.
        """
        servers = Authority(self._folder, f"{name}-servers")
        clients = Authority(self._folder, f"{name}-clients")
        client = clients.issue("client")
        self.ca.write_bytes(servers.path.read_bytes())
        self.certificate.write_bytes(client.certificate.read_bytes())
        self.key.write_bytes(client.key.read_bytes())
        return servers.issue("server"), clients.path


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


async def test_a_run_continues_after_all_certificates_are_renewed(
    certificates: Certificates,
    placement: HandPlacement,
    own_kubeconfig: Path,
    temporal_address: str,
    unique: str,
    tmp_path: Path,
) -> None:
    await placement.create({unique: {"env": unique}})
    stage = {"name": "all", "labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [stage | {"beforeStageTasks": [{"type": "Approval"}]}])
    port, metrics = ports.choose(), f"127.0.0.1:{ports.choose()}"
    worker = worker_process(
        tmp_path / "worker.log",
        KUBECONFIG=str(own_kubeconfig),
        TEMPORAL_ADDRESS=f"127.0.0.1:{port}",
        TEMPORAL_TLS_SERVER_CA_CERT_PATH=str(certificates.ca),
        TEMPORAL_TLS_CLIENT_CERT_PATH=str(certificates.certificate),
        TEMPORAL_TLS_CLIENT_KEY_PATH=str(certificates.key),
        FLEETGATE_RUN="engine,bridge",
        FLEETGATE_PLACEMENT="external",
        FLEETGATE_LEASE_NAMESPACE="default",
        FLEETGATE_TASK_QUEUE=unique,
        FLEETGATE_METRICS_ADDRESS=metrics,
    )

    def door(name: str) -> AbstractAsyncContextManager[str]:
        server, clients = certificates.renew(name)
        return guarded(temporal_address, server=server, clients_of=clients, port=port)

    with worker as process:
        async with door("before"):
            await eventually(lambda: answers_ready(metrics))
            await placement.create_run(unique, unique, index="0")
            await reaches(placement, unique, "UpdateRunWaiting")
        # The next server accepts none of the old certificates.
        async with door("after"):
            await placement.approve(f"{unique}-before-all")
            await started(placement, unique)
            await placement.report(unique)
            await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
            assert process.poll() is None


async def let_in(connection: Connection) -> bool:
    request = DescribeNamespaceRequest(namespace=connection.client.namespace)
    try:
        await connection.client.workflow_service.describe_namespace(
            request, timeout=timedelta(seconds=10)
        )
    except RPCError:
        return False
    return True


async def test_a_new_api_key_in_the_profile_file_is_used(
    authority: Authority, temporal_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, profiles = ports.choose(), tmp_path / "temporal.toml"
    server = authority.issue("server")
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(profiles))

    def written(api_key: str) -> None:
        profiles.write_text(
            f'[profile.default]\naddress = "127.0.0.1:{port}"\napi_key = "{api_key}"\n'
            f'[profile.default.tls]\nserver_ca_cert_path = "{authority.path}"\n'
        )

    def door(api_key: str) -> AbstractAsyncContextManager[str]:
        return guarded(temporal_address, server=server, api_key=api_key, port=port)

    written("one")
    async with door("one"):
        connection = await reach(Settings.load(), TemporalMetrics(CollectorRegistry()), [])
        assert await let_in(connection)
    async with running(connection), door("two"):
        await eventually(lambda: let_in(connection), lambda seen: not seen)
        written("two")
        await eventually(lambda: let_in(connection))


async def test_new_payload_keys_are_used_for_encryption(
    temporal_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = f"first: {new_key()}\n", f"second: {new_key()}\n"
    keys = tmp_path / "keys"
    keys.write_text(first)
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("FLEETGATE_PAYLOAD_KEYS", str(keys))
    connection = await reach(Settings.load(), TemporalMetrics(CollectorRegistry()), [])
    converter = connection.client.data_converter
    [old] = await converter.encode(["said before"])

    async def key_in_use() -> bytes:
        [payload] = await converter.encode(["any"])
        return payload.metadata["encryption-key-id"]

    async with running(connection):
        assert await key_in_use() == b"first"
        keys.write_text(second + first)
        await eventually(key_in_use, lambda seen: seen == b"second")
        assert await converter.decode([old], [str]) == ["said before"]
