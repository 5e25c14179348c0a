"""Connection settings of Temporal, and explanations of why it cannot be reached.

The settings are Temporal's own: the SDK reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and so on. Its
errors describe what happened inside its libraries; here they are translated into the name of the
variable to change. Settings that can never work are distinguished from a server that is
unreachable, which may come back.
"""

import asyncio
import re
import ssl
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.service import RPCError, RPCStatusCode

DEFAULT_ADDRESS: Final = "localhost:7233"
DEFAULT_NAMESPACE: Final = "default"

PROFILE: Final = "TEMPORAL_PROFILE"
CONFIG_FILE: Final = "TEMPORAL_CONFIG_FILE"
ADDRESS: Final = "TEMPORAL_ADDRESS"
NAMESPACE: Final = "TEMPORAL_NAMESPACE"
API_KEY: Final = "TEMPORAL_API_KEY"
TLS: Final = "TEMPORAL_TLS"
AUTHORITY: Final = "TEMPORAL_TLS_SERVER_CA_CERT_PATH"
SERVER_NAME: Final = "TEMPORAL_TLS_SERVER_NAME"
CERTIFICATE: Final = "TEMPORAL_TLS_CLIENT_CERT_PATH"
KEY: Final = "TEMPORAL_TLS_CLIENT_KEY_PATH"
_FILES: Final = (AUTHORITY, CERTIFICATE, KEY)

_HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")
_PROBE_WITHIN: Final = 3.0
"""Seconds; a server that requires a certificate closes the connection at once."""
_LONGEST: Final = 500
"""Maximum number of characters shown of an SDK error."""


class UnusableSettingsError(ValueError):
    """Temporal's settings can never work; the message names the variable and what to do."""


class UnreachableError(RuntimeError):
    """Temporal does not answer, or does not serve the namespace yet; it may later."""


def read(environ: Mapping[str, str]) -> ClientConnectConfig:
    """Return the settings from the variables and from the file that they name.

    `target_host` and `namespace` are always set. Raises UnusableSettingsError.
    """
    _check_file(environ)
    try:
        found = ClientConfig.load_client_connect_config(override_env_vars=dict(environ))
    except OSError as error:
        raise UnusableSettingsError(_of_file(error, environ)) from error
    except RuntimeError as error:
        raise UnusableSettingsError(_of_settings(error, environ)) from error
    found.setdefault("target_host", DEFAULT_ADDRESS)
    found.setdefault("namespace", DEFAULT_NAMESPACE)
    if not _HOST_AND_PORT.fullmatch(found["target_host"]):
        raise UnusableSettingsError(f"{ADDRESS} is {found['target_host']!r}: write host:port")
    return found


def _check_file(environ: Mapping[str, str]) -> None:
    """Refuse a missing configuration file, which the SDK treats as an empty one."""
    named = environ.get(CONFIG_FILE)
    # The null device is allowed: people set it to use no file.
    if named and (not Path(named).exists() or Path(named).is_dir()):
        raise UnusableSettingsError(f"{CONFIG_FILE} is {named!r}: no such file")


def _of_file(error: OSError, environ: Mapping[str, str]) -> str:
    file = str(error.filename)
    variable = next((name for name in _FILES if environ.get(name) == file), "")
    reason = error.strerror or "cannot be read"
    return (
        f"{variable} is {file!r}: {reason}" if variable else f"the profile names {file}: {reason}"
    )


def _of_settings(error: RuntimeError, environ: Mapping[str, str]) -> str:
    text = " ".join(str(error).split())
    profile = environ.get(PROFILE)
    if profile and text.endswith("not found"):
        return f"{PROFILE} is {profile!r}: the file that {CONFIG_FILE} names has no such profile"
    if "TEMPORAL_" in text:
        return text
    return f"{CONFIG_FILE} is {environ.get(CONFIG_FILE, '')!r}: {text}"


# -- errors of a connection attempt ------------------------------------------------------------


async def explained(
    error: Exception, config: ClientConnectConfig
) -> UnusableSettingsError | UnreachableError:
    """Translate an error that the SDK raised while connecting."""
    text, address = str(error), config["target_host"]
    if unusable := _unusable(text, config):
        return UnusableSettingsError(unusable)
    if "get_system_info" in text and (wanted := await _wanted(config)):
        return UnusableSettingsError(wanted)
    short = text.removeprefix("Failed client connect: ")[:_LONGEST]
    return UnreachableError(f"{address} does not answer; check {ADDRESS} ({short})")


def refused(error: RPCError, config: ClientConnectConfig) -> Exception:
    """Translate an error that Temporal returned when asked to describe the namespace."""
    address, namespace = config["target_host"], config["namespace"]
    match error.status:
        case RPCStatusCode.UNAUTHENTICATED | RPCStatusCode.PERMISSION_DENIED:
            return UnusableSettingsError(_not_let_in(config))
        case RPCStatusCode.NOT_FOUND:
            return UnreachableError(
                f"{address} has no namespace {namespace}; create it with `fleetgate temporal setup "
                f"--create-namespace`, or name another one in {NAMESPACE}"
            )
    return UnreachableError(f"{address} cannot describe namespace {namespace}: {error.message}")


def _unusable(text: str, config: ClientConnectConfig) -> str:
    """Return what is wrong with a setting, if the error shows it; empty otherwise."""
    address = config["target_host"]
    if "Must have both client cert" in text:
        return f"{CERTIFICATE} and {KEY} go together: set both or none"
    if "invalid target URL" in text:
        return f"{ADDRESS} is {address!r}: write host:port"
    if "UnknownIssuer" in text:
        return (
            f"{AUTHORITY} must name the CA that signed the certificate of {address}; the CAs "
            "trusted now did not"
        )
    if "NotValidForName" in text:
        return f"{SERVER_NAME} must be a name that the certificate of {address} is valid for"
    if "InvalidContentType" in text:
        return f"{address} does not speak TLS, but {TLS}, {API_KEY} or a certificate requires it"
    if "PrivateKeyParse" in text or "CertificateParse" in text:
        return f"{CERTIFICATE} or {KEY} is not a certificate or key in PEM format"
    if "InconsistentKeys" in text:
        return f"{KEY} is not the key of {CERTIFICATE}"
    if "code: Unauthenticated" in text or "code: PermissionDenied" in text:
        return _not_let_in(config)
    return ""


def _not_let_in(config: ClientConnectConfig) -> str:
    address, namespace = config["target_host"], config["namespace"]
    if config.get("api_key"):
        return f"{API_KEY} is not accepted by {address} for namespace {namespace}"
    return (
        f"{address} requires authentication for namespace {namespace}: set {API_KEY}, or "
        f"{CERTIFICATE} and {KEY}"
    )


async def _wanted(config: ClientConnectConfig) -> str:
    """Return what is missing when a server silently closes the connection; empty if unclear."""
    address = config["target_host"]
    wants = await _ask(address)
    if wants is None:
        return ""
    tls = config.get("tls")
    if not tls:
        return f"{TLS} must be true: {address} speaks TLS"
    if not wants:
        return ""
    given = not isinstance(tls, bool) and tls.client_cert
    if given:
        return f"{CERTIFICATE} is not accepted by {address}"
    return f"{CERTIFICATE} and {KEY} must be set: {address} requires a client certificate"


async def _ask(address: str) -> bool | None:
    """Return whether a server requires a client certificate; None if no TLS connection succeeds.

    Nothing is sent and nothing is trusted: the answer is used only in an error message.
    """
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        async with asyncio.timeout(_PROBE_WITHIN):
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), ssl=context)
            with closing(writer):
                return await _is_shown_out(reader)
    except (TimeoutError, OSError):
        return None


async def _is_shown_out(reader: asyncio.StreamReader) -> bool:
    """Return whether the server closes the connection after the handshake, before any data."""
    try:
        return not await reader.read(1)
    except (ssl.SSLError, ConnectionError):
        return True
