"""Following the changes in an etcd, on an etcd for this test alone."""

import asyncio
import json
from pathlib import Path

import aiohttp

from api.kinds import CLUSTER_SCOPE, PLACEMENT_GROUP
from deploy.local import ports
from deploy.local.etcd import etcd
from deploy.local.processes import Processes
from deploy.local.services import ensure
from tests.soak.history import History
from tests.soak.reading import StoreReader, coded
from tests.support.eventually import eventually
from tests.support.servers import Servers


async def test_a_compacted_etcd_is_read_from_its_oldest_revision(
    servers: Servers, tmp_path: Path
) -> None:
    processes = Processes(pids=tmp_path / "pids", logs=tmp_path / "logs")
    store = etcd(
        servers.binaries.etcd, data=tmp_path, port=ports.choose(), peer_port=ports.choose()
    )
    history, kind = History(), CLUSTER_SCOPE.run.plural
    try:
        await ensure(store, processes=processes)
        revision = await put(store.address, "/other/key", "{}")
        await call(store.address, "kv/compaction", revision=str(revision))
        reader = StoreReader(store.address, prefix="hub", history=history)
        reading = asyncio.create_task(reader.run())
        revision = await put(store.address, f"/hub/{PLACEMENT_GROUP}/{kind}/run", json.dumps({}))
        await eventually(lambda: history.latest == {(kind, "", "run"): revision})
        reading.cancel()
    finally:
        processes.stop(processes.names())


async def put(etcd: str, key: str, value: str) -> int:
    """Store a value, and return its revision."""
    return await call(etcd, "kv/put", key=coded(key), value=coded(value))


async def call(etcd: str, what: str, **arguments: str) -> int:
    """Send a request to etcd, and return its current revision."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{etcd}/v3/{what}", json=arguments) as answer,
    ):
        return int((await answer.json(content_type=None))["header"]["revision"])
