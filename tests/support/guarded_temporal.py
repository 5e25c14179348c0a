"""A proxy that secures a Temporal server like one in production.

It terminates TLS, may require a client certificate and an API key, and passes each request on to
the server behind it, which requires nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy.local.ports import LOOPBACK

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority with its files in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._sign(name, self._key, ca=True)
        self.path = self._write(name, self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str) -> Pair:
        """Issue a certificate for the loopback address."""
        key = ec.generate_private_key(ec.SECP256R1())
        signed = self._sign(name, key, ca=False)
        return Pair(
            self._write(name, signed.public_bytes(serialization.Encoding.PEM)),
            self._write(f"{name}-key", _pem(key)),
        )

    def _sign(self, name: str, key: ec.EllipticCurvePrivateKey, *, ca: bool) -> x509.Certificate:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named(self._name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(now + _DAY)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )

    def _write(self, name: str, content: bytes) -> Path:
        path = self._folder / f"{self._name}-{name}.pem"
        path.write_bytes(content)
        return path


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@asynccontextmanager
async def guarded(
    upstream: str,
    *,
    server: Pair,
    clients_of: Path | None = None,
    api_key: str = "",
    port: int = 0,
) -> AsyncIterator[str]:
    """Run the proxy while the context is open, and yield its address; by default at a free port."""
    async with grpc.aio.insecure_channel(upstream) as channel:
        door = grpc.aio.server()
        door.add_generic_rpc_handlers((_Door(channel, api_key),))
        port = door.add_secure_port(f"{LOOPBACK}:{port}", _credentials(server, clients_of))
        await door.start()
        try:
            yield f"{LOOPBACK}:{port}"
        finally:
            await door.stop(grace=None)


def _credentials(server: Pair, clients_of: Path | None) -> grpc.ServerCredentials:
    return grpc.ssl_server_credentials(
        [(server.key.read_bytes(), server.certificate.read_bytes())],
        root_certificates=clients_of.read_bytes() if clients_of else None,
        require_client_auth=clients_of is not None,
    )


class _Door(grpc.GenericRpcHandler):
    """Passes every request on unchanged; all of Temporal's calls are unary."""

    def __init__(self, channel: grpc.aio.Channel, api_key: str) -> None:
        self._channel = channel
        self._api_key = api_key

    def service(self, call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        return grpc.unary_unary_rpc_method_handler(self._asked(call_details.method))

    def _asked(self, method: str) -> Callable[..., Awaitable[bytes]]:
        ask: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(method)

        async def answer(request: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
            given = dict(context.invocation_metadata() or ())
            if self._api_key and given.get("authorization") != f"Bearer {self._api_key}":
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "invalid API key")
            passed = [(key, given[key]) for key in given if key.startswith("temporal-namespace")]
            try:
                answered: bytes = await ask(
                    request, metadata=passed, timeout=context.time_remaining()
                )
            except grpc.aio.AioRpcError as error:
                details = error.trailing_metadata() or ()
                await context.abort(error.code(), error.details() or "", tuple(details))
            return answered

        return answer
