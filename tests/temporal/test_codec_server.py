"""The server that decrypts payloads for Temporal's UI, and the clients that it accepts."""

import asyncio
import base64
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientConnectorError, ClientSession
from aiohttp.test_utils import TestServer

from deploy.local import ports
from starter import cli
from starter.operating.codec_server import CodecAccess, made
from tests.support.eventually import eventually
from tests.temporal.test_encryption import PLAIN, new_key, written
from workflows.encryption import Keys, PayloadCipher

UI = "https://temporal.example"
OPEN = CodecAccess(origins=(UI,), token="")


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys.read(written(tmp_path, f"one: {new_key()}"))


@asynccontextmanager
async def serving(keys: Keys, access: CodecAccess) -> AsyncIterator[str]:
    async with TestServer(made(keys, access)) as server:
        yield str(server.make_url("")).rstrip("/")


Body = dict[str, object]


def shown(data: bytes, encoding: str = "json/plain") -> Body:
    """Return payloads in their JSON form."""
    metadata = {"encoding": base64.b64encode(encoding.encode()).decode()}
    return {"payloads": [{"metadata": metadata, "data": base64.b64encode(data).decode()}]}


async def asked(url: str, path: str, body: object, **headers: str) -> tuple[int, str]:
    async with ClientSession() as http, http.post(url + path, json=body, headers=headers) as found:
        return found.status, await found.text()


async def test_it_decrypts_what_it_encrypted(keys: Keys) -> None:
    async with serving(keys, OPEN) as url:
        status, sealed = await asked(url, "/encode", shown(PLAIN.data))
        assert status == 200
        assert base64.b64encode(PLAIN.data).decode() not in sealed
        status, text = await asked(url, "/decode", json.loads(sealed))
    assert (status, json.loads(text)) == (200, shown(PLAIN.data))


async def test_it_decrypts_what_a_worker_encrypted(keys: Keys) -> None:
    (sealed,) = await PayloadCipher(keys).encode([PLAIN])
    body: Body = {
        "payloads": [
            {
                "metadata": {
                    name: base64.b64encode(value).decode()
                    for name, value in sealed.metadata.items()
                },
                "data": base64.b64encode(sealed.data).decode(),
            }
        ]
    }
    async with serving(keys, OPEN) as url:
        status, text = await asked(url, "/decode", body)
    assert (status, json.loads(text)) == (200, shown(PLAIN.data))


async def test_a_missing_key_is_named(keys: Keys, tmp_path: Path) -> None:
    other = Keys.read(written(tmp_path, f"other: {new_key()}"))
    async with serving(other, OPEN) as there, serving(keys, OPEN) as here:
        _, sealed = await asked(there, "/encode", shown(PLAIN.data))
        status, text = await asked(here, "/decode", json.loads(sealed))
    assert status == 422
    assert "encrypted with the key other" in text


async def test_a_body_without_payloads_is_refused(keys: Keys) -> None:
    async with serving(keys, OPEN) as url:
        status, text = await asked(url, "/decode", {"payloads": "?"})
    assert status == 400
    assert text.startswith("payloads as JSON are required: ")


async def test_a_page_of_the_ui_may_read_the_answer(keys: Keys) -> None:
    async with serving(keys, OPEN) as url, ClientSession() as http:
        origin = {"Origin": UI}
        async with http.options(f"{url}/decode", headers=origin) as preflight:
            assert preflight.status == 204
            assert preflight.headers["Access-Control-Allow-Origin"] == UI
            assert "x-namespace" in preflight.headers["Access-Control-Allow-Headers"]
        async with http.post(f"{url}/decode", json=shown(b"1"), headers=origin) as found:
            assert found.status == 200
            assert found.headers["Access-Control-Allow-Origin"] == UI


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{UI}.evil.example"])
async def test_a_page_from_another_origin_is_refused(keys: Keys, origin: str) -> None:
    async with serving(keys, OPEN) as url, ClientSession() as http:
        headers = {"Origin": origin}
        for ask in _ways(http, f"{url}/decode", headers):
            status, given = await ask()
            assert status == 403
            assert "Access-Control-Allow-Origin" not in given


def _ways(
    http: ClientSession, url: str, headers: dict[str, str]
) -> list[Callable[[], Awaitable[tuple[int, dict[str, str]]]]]:
    async def preflight() -> tuple[int, dict[str, str]]:
        async with http.options(url, headers=headers) as found:
            return found.status, dict(found.headers)

    async def post() -> tuple[int, dict[str, str]]:
        async with http.post(url, json=shown(b"1"), headers=headers) as found:
            return found.status, dict(found.headers)

    return [preflight, post]


@pytest.mark.parametrize(
    ("header", "status"),
    [("Bearer right", 200), ("Bearer wrong", 401), ("right", 401), ("", 401), ("Bearer ", 401)],
)
async def test_with_a_token_only_requests_that_carry_it_are_answered(
    keys: Keys, header: str, status: int
) -> None:
    async with serving(keys, CodecAccess(origins=(), token="right")) as url:
        for path in ("/encode", "/decode"):
            assert (await asked(url, path, shown(b"1"), Authorization=header))[0] == status


# -- the command -------------------------------------------------------------------------------


@pytest.mark.parametrize("listen", ["0.0.0.0:8081", "[::]:8081", "codec.example:8081"])
def test_listening_beyond_this_machine_requires_a_token(
    listen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, f"one: {new_key()}")
    typed = ["temporal", "codec-server", "--payload-keys", str(file), "--listen", listen]
    assert cli.run(typed) == 2
    assert capsys.readouterr().err == (
        f"error: without a token the codec server answers this machine only, not {listen}\n"
        "  add --token-file, or listen on 127.0.0.1 behind a proxy that authenticates people\n"
    )


def test_without_keys_it_does_not_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "none"
    assert cli.run(["temporal", "codec-server", "--payload-keys", str(file)]) == 2
    told = f"error: FLEETGATE_PAYLOAD_KEYS is '{file}': No such file or directory\n"
    assert capsys.readouterr().err == told


def test_an_empty_token_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys, token = written(tmp_path, f"one: {new_key()}"), tmp_path / "token"
    token.write_text("\n")
    typed = ["--payload-keys", str(keys), "--token-file", str(token)]
    assert cli.run(["temporal", "codec-server", *typed]) == 2
    assert capsys.readouterr().err == f"error: the file {token} contains no token\n"


async def test_keys_and_a_token_that_change_on_disk_take_effect(tmp_path: Path) -> None:
    old, token = f"old: {new_key()}", tmp_path / "token"
    keys, address = written(tmp_path, old), f"127.0.0.1:{ports.choose()}"
    token.write_text("first")
    typed = ["--payload-keys", str(keys), "--token-file", str(token), "--listen", address]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "starter", "temporal", "codec-server", *typed
    )

    async def encoded(bearer: str) -> tuple[int, str]:
        """Return the status of a request and the id of the key used; 0 while nothing listens."""
        headers = {"Authorization": f"Bearer {bearer}"}
        try:
            status, text = await asked(f"http://{address}", "/encode", shown(b"1"), **headers)
        except ClientConnectorError:
            return 0, ""
        if status != 200:
            return status, ""
        (payload,) = json.loads(text)["payloads"]
        return status, base64.b64decode(payload["metadata"]["encryption-key-id"]).decode()

    try:
        await eventually(lambda: encoded("first"), lambda seen: seen == (200, "old"))
        written(tmp_path, f"new: {new_key()}", old)
        assert await encoded("first") == (200, "new")
        token.write_text("second")
        assert await encoded("first") == (401, "")
        assert await encoded("second") == (200, "new")
        # An empty token would let everyone in.
        token.write_text("")
        assert await encoded("") == (401, "")
        assert await encoded("second") == (200, "new")
    finally:
        server.kill()
        await server.wait()
