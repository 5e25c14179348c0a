"""Failures below Kubernetes are raised as errors of the hub that say what was requested."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from hub import BadConfiguration, Hub, TooManyRequests, Unauthorized, Unavailable, watching
from tests.hub.test_kubeconfig import named, written


async def connected(folder: Path, url: str) -> Hub:
    return await Hub.connect(written(folder, named("x", server=url)))


async def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    async with await connected(tmp_path, "http://127.0.0.1:1") as hub:
        with pytest.raises(Unavailable, match=r"no API server answers at http://127\.0\.0\.1:1"):
            await hub.version()


@asynccontextmanager
async def something_else(answer: bytes) -> AsyncIterator[str]:
    """Serve the same answer to every request, as a proxy of an API server might."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 " + answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"200 OK\r\nContent-Length: 5\r\n\r\nHello", "did not answer with JSON"),
        (b"200 OK\r\nContent-Length: 2\r\n\r\n[]", "did not answer with a JSON object"),
        (b"200 OK\r\nContent-Length: 50\r\n\r\nHel", "the connection to .* was lost"),
        (b"502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "get /version: Bad Gateway"),
        (b"503 Later\r\nContent-Length: 6\r\n\r\nnot up", "get /version: not up"),
    ],
)
async def test_anything_other_than_an_api_server_is_unavailable(
    tmp_path: Path, answer: bytes, text: str
) -> None:
    async with something_else(answer) as url, await connected(tmp_path, url) as hub:
        with pytest.raises(Unavailable, match=text):
            await hub.version()


async def test_a_plain_text_refusal_keeps_its_retry_delay(tmp_path: Path) -> None:
    answer = b"429 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy"
    async with something_else(answer) as url, await connected(tmp_path, url) as hub:
        with pytest.raises(TooManyRequests) as refused:
            await hub.version()

    assert refused.value.retry_after == timedelta(seconds=7)


def test_half_an_event_means_a_lost_connection() -> None:
    with pytest.raises(Unavailable, match="in the middle of an event"):
        watching.decode(b'{"type": "ADD')


async def test_a_certificate_of_someone_else_is_not_trusted(hub: Hub, tmp_path: Path) -> None:
    async with await connected(tmp_path, hub.url) as stranger:
        with pytest.raises(BadConfiguration, match="certificate-authority"):
            await stranger.version()


async def test_a_wrong_token_is_unauthorized(hub: Hub, tmp_path: Path) -> None:
    content = named("x", server=hub.url, token="wrong")
    content["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    async with await Hub.connect(written(tmp_path, content)) as stranger:
        with pytest.raises(Unauthorized):
            await stranger.version()


def test_deeply_nested_events_are_read() -> None:
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    event = watching.decode(b'{"type": "ADDED", "object": ' + deep + b"}")
    assert json.dumps(event.object, separators=(",", ":")).encode() == deep
