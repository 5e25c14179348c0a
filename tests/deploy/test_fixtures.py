"""The servers that other tests depend on."""

from pathlib import Path

from api.kinds import CONFIG_MAP
from hub import Hub
from tests.support.servers import PrivateApiServer


def body(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


async def test_the_shared_api_server_keeps_what_is_written(hub: Hub, unique: str) -> None:
    await hub.create(CONFIG_MAP, body(unique), namespace="default")

    assert (await hub.get(CONFIG_MAP, unique, namespace="default"))["metadata"]["name"] == unique


async def test_a_private_api_server_keeps_its_content_when_killed(
    private_api_server: PrivateApiServer, hub_kubeconfig: Path, unique: str
) -> None:
    async with await Hub.connect(private_api_server.kubeconfig) as client:
        await client.create(CONFIG_MAP, body(unique), namespace="default")
    await private_api_server.kill()
    await private_api_server.start()
    async with await Hub.connect(private_api_server.kubeconfig) as client:
        found = await client.find(CONFIG_MAP, unique, namespace="default")
    async with await Hub.connect(hub_kubeconfig) as client:
        elsewhere = await client.find(CONFIG_MAP, unique, namespace="default")

    assert found is not None
    assert elsewhere is None


async def test_the_shared_temporal_server_listens(temporal_address: str) -> None:
    host, port = temporal_address.split(":")

    assert host == "127.0.0.1"
    assert int(port) > 0
