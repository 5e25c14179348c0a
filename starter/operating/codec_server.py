"""`fleetgate temporal codec-server`: decrypts payloads for Temporal's UI and command line."""

import hmac
import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click
from aiohttp import web
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from temporalio.api.common.v1 import Payloads

from starter import temporal
from starter.failures import CommandFailure, ExitCode
from starter.helping import examples
from workflows.encryption import EncryptedError, Keys, PayloadCipher

MOST_BYTES: Final = 16 * 1024**2
"""Largest request: a page of history, where each payload may have 2 MB."""
_ALLOWED_HEADERS: Final = "authorization, content-type, x-namespace"
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Read = Callable[[], tuple[Keys, str]]
"""Reads the keys and the token, which is empty if there is no file.

Raises CommandFailure and OSError.
"""


@dataclass(frozen=True, slots=True)
class CodecAccess:
    """Who may use the codec server."""

    origins: tuple[str, ...]
    """Allowed origins of pages in a browser: scheme, host and port of the UI."""
    token: str
    """Bearer token that each request must carry; empty if none is needed."""


@click.command(
    name="codec-server",
    epilog=examples(
        "fleetgate temporal codec-server --payload-keys keys --origin http://localhost:8233",
        "fleetgate temporal codec-server --payload-keys keys --listen 0.0.0.0:8081 "
        "--token-file token --origin https://temporal.example.com",
    ),
)
@click.option(
    "--payload-keys",
    envvar="FLEETGATE_PAYLOAD_KEYS",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with the workers' keys  [FLEETGATE_PAYLOAD_KEYS].",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="127.0.0.1:8081",
    show_default=True,
    help="Address to listen on; other than loopback only with --token-file.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Origin of the Temporal UI, such as https://temporal.example.com; can be repeated.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File with the token that each request must carry as `Authorization: Bearer TOKEN`.",
)
def codec_server(
    payload_keys: Path, listen: str, origins: tuple[str, ...], token_file: Path | None
) -> None:
    """Decrypt payloads for the Temporal UI and the `temporal` CLI, until SIGTERM or Ctrl-C.

    Anyone with access to it can read everything that the keys decrypt. By default it answers this
    machine only: put it behind a proxy that authenticates people, or give it a token. Enter its
    address in the UI under the glasses icon at the top, or as `temporal --codec-endpoint`.
    """
    host, port = _address(listen)

    def read() -> tuple[Keys, str]:
        with temporal.wrong_settings_explained():
            return Keys.read(payload_keys), _read(token_file) if token_file else ""

    if not token_file and not _is_loopback(host):
        raise CommandFailure(
            f"without a token the codec server answers this machine only, not {listen}",
            advice="add --token-file, or listen on 127.0.0.1 behind a proxy that authenticates "
            "people",
            exit_code=ExitCode.USAGE,
        )
    keys, token = read()
    application = made(keys, CodecAccess(origins, token), read=read)
    click.echo(f"answering on http://{listen}: /encode and /decode", err=True)
    try:
        web.run_app(application, host=host, port=port, print=None, access_log=None)
    except OSError as error:
        raise CommandFailure(
            f"cannot listen on {listen}: {error.strerror}",
            advice="choose another address with --listen",
        ) from error


class _Credentials:
    """Keys and token from their files, or the last valid ones if a file becomes unusable."""

    def __init__(self, keys: Keys, access: CodecAccess, read: Read | None) -> None:
        self._read = read
        self._complaint = ""
        self.cipher = PayloadCipher(keys)
        self.access = access

    def follow(self) -> None:
        """Reload both files; they are small, and read only when someone views a run."""
        if self._read is None:
            return
        try:
            keys, token = self._read()
        except (CommandFailure, OSError, UnicodeDecodeError) as error:
            if str(error) != self._complaint:
                click.echo(f"still using the previous keys and token: {error}", err=True)
            self._complaint = str(error)
            return
        self._complaint = ""
        self.cipher.use(keys)
        self.access = replace(self.access, token=token)


def made(keys: Keys, access: CodecAccess, *, read: Read | None = None) -> web.Application:
    """Make the server's application.

    With `read`, keys and token are reloaded for each request.
    """
    held = _Credentials(keys, access, read)

    @web.middleware
    async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
        held.follow()
        answer = await _answered(request, handler, held.access)
        _let_pages_read(answer, request, held.access)
        return answer

    application = web.Application(middlewares=[guard], client_max_size=MOST_BYTES)

    async def encode(request: web.Request) -> web.Response:
        return _sent(Payloads(payloads=await held.cipher.encode((await _given(request)).payloads)))

    async def decode(request: web.Request) -> web.Response:
        try:
            return _sent(
                Payloads(payloads=await held.cipher.decode((await _given(request)).payloads))
            )
        except EncryptedError as error:
            return web.Response(text=f"{error}\n", status=422)

    application.add_routes([web.post("/encode", encode), web.post("/decode", decode)])
    return application


async def _answered(
    request: web.Request, handler: _Handler, access: CodecAccess
) -> web.StreamResponse:
    if request.headers.get("Origin", "") not in ("", *access.origins):
        # Refused, not only hidden by CORS: a page may have pointed its own name at this machine
        # (DNS rebinding).
        return web.Response(text="this origin is not allowed; see --origin\n", status=403)
    if request.method == "OPTIONS":  # a browser's preflight request, which carries no token
        return web.Response(status=204)
    given = request.headers.get("Authorization", "").encode()
    if access.token and not hmac.compare_digest(given, f"Bearer {access.token}".encode()):
        return web.Response(text="a bearer token is required\n", status=401)
    try:
        return await handler(request)
    except web.HTTPException as refusal:
        return web.Response(text=refusal.text, status=refusal.status)


def _let_pages_read(answer: web.StreamResponse, request: web.Request, access: CodecAccess) -> None:
    origin = request.headers.get("Origin", "")
    answer.headers["Vary"] = "Origin"
    if origin in access.origins:
        answer.headers["Access-Control-Allow-Origin"] = origin
        answer.headers["Access-Control-Allow-Credentials"] = "true"
        answer.headers["Access-Control-Allow-Methods"] = "POST"
        answer.headers["Access-Control-Allow-Headers"] = _ALLOWED_HEADERS


async def _given(request: web.Request) -> Payloads:
    try:
        return Parse(await request.text(), Payloads())
    except (ParseError, UnicodeDecodeError) as error:
        raise web.HTTPBadRequest(text=f"payloads as JSON are required: {error}\n") from error


def _sent(payloads: Payloads) -> web.Response:
    return web.Response(text=MessageToJson(payloads), content_type="application/json")


def _read(token_file: Path) -> str:
    if token := token_file.read_text().strip():
        return token
    raise CommandFailure(f"the file {token_file} contains no token", exit_code=ExitCode.USAGE)


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise click.BadParameter(f"{listen!r} is not host:port", param_hint="--listen")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
