"""The client certificate of a kubeconfig is accepted by a server that asks for one."""

import json
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hub import Hub
from tests.hub.test_kubeconfig import named, written
from tests.support.guarded_temporal import Authority, Pair

PLUGIN = "client.authentication.k8s.io/v1"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[str]:
    """Serve clients whose certificate was signed by this authority."""
    pair = authority.issue("server")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.path)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(pair.certificate, pair.key)

    async def version(_: web.Request) -> web.Response:
        return web.json_response({"gitVersion": "v1.34.4"})

    application = web.Application()
    application.router.add_get("/version", version)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def as_files(pair: Pair) -> dict[str, Any]:
    return {"client-certificate": pair.certificate.name, "client-key": pair.key.name}


def as_data(pair: Pair) -> dict[str, Any]:
    return {
        "client-certificate-data": b64encode(pair.certificate.read_bytes()).decode(),
        "client-key-data": b64encode(pair.key.read_bytes()).decode(),
    }


def by_plugin(pair: Pair) -> dict[str, Any]:
    status = {
        "clientCertificateData": pair.certificate.read_text(),
        "clientKeyData": pair.key.read_text(),
    }
    answer = pair.key.with_name("answer.json")
    answer.write_text(
        json.dumps({"apiVersion": PLUGIN, "kind": "ExecCredential", "status": status})
    )
    return {"exec": {"apiVersion": PLUGIN, "command": "cat", "args": [str(answer)]}}


@pytest.mark.parametrize("user", [as_files, as_data, by_plugin])
@pytest.mark.parametrize("inline", [True, False], ids=["authority-data", "authority-file"])
async def test_the_client_certificate_of_a_kubeconfig_is_sent(
    tmp_path: Path, authority: Authority, server: str, user: Any, inline: bool
) -> None:
    content = named("x", server=server, **user(authority.issue("client")))
    content["clusters"][0]["cluster"] |= (
        {"certificate-authority-data": b64encode(authority.path.read_bytes()).decode()}
        if inline
        else {"certificate-authority": authority.path.name}
    )
    async with await Hub.connect(written(tmp_path, content)) as hub:
        assert await hub.version() == "v1.34.4"
