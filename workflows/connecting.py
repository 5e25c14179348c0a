"""Reaching Temporal, and saying in the operator's words why it cannot be reached.

What can be set is Temporal's own: the SDK reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and so on.
Its errors tell of what happened inside of its libraries; here they become the name of a variable.
A setting that can never work is told from a server that is away, which comes back.
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
"""Seconds; a server says at once that it wants a certificate."""
_LONGEST: Final = 500
"""Characters of an error of the SDK that are shown."""


class UnusableSettingsError(ValueError):
    """Temporal's settings can never work; the text names the variable and what to do."""


class UnreachableError(RuntimeError):
    """Temporal does not answer, or does not serve the namespace yet; it may later."""


def read(environ: Mapping[str, str]) -> ClientConnectConfig:
    """What the variables say, and the file that they name; `target_host` and `namespace` at least.

    Raises UnusableSettingsError.
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
    """The SDK takes a file that there is not for one that says nothing."""
    named = environ.get(CONFIG_FILE)
    # The null device is how one says that there is none.
    if named and (not Path(named).exists() or Path(named).is_dir()):
        raise UnusableSettingsError(f"{CONFIG_FILE} is {named!r}: there is no such file")


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


# -- what a try to connect ended with ----------------------------------------------------------


async def explained(
    error: Exception, config: ClientConnectConfig
) -> UnusableSettingsError | UnreachableError:
    """What an error of the SDK's connecting means."""
    text, address = str(error), config["target_host"]
    if unusable := _unusable(text, config):
        return UnusableSettingsError(unusable)
    if "get_system_info" in text and (wanted := await _wanted(config)):
        return UnusableSettingsError(wanted)
    short = text.removeprefix("Failed client connect: ")[:_LONGEST]
    return UnreachableError(f"{address} does not answer; {ADDRESS} names another one ({short})")


def refused(error: RPCError, config: ClientConnectConfig) -> Exception:
    """What it means that Temporal does not tell about its namespace."""
    address, namespace = config["target_host"], config["namespace"]
    match error.status:
        case RPCStatusCode.UNAUTHENTICATED | RPCStatusCode.PERMISSION_DENIED:
            return UnusableSettingsError(_not_let_in(config))
        case RPCStatusCode.NOT_FOUND:
            return UnreachableError(
                f"{address} has no namespace {namespace}; make it with `fleetgate temporal setup "
                f"--create-namespace`, or name another one with {NAMESPACE}"
            )
    return UnreachableError(f"{address} does not tell about namespace {namespace}: {error.message}")


def _unusable(text: str, config: ClientConnectConfig) -> str:
    """The setting that is to blame, where the error says so; empty otherwise."""
    address = config["target_host"]
    if "Must have both client cert" in text:
        return f"{CERTIFICATE} and {KEY} go together: set both or none"
    if "invalid target URL" in text:
        return f"{ADDRESS} is {address!r}: write host:port"
    if "UnknownIssuer" in text:
        return (
            f"{AUTHORITY} has to name the authority that signed the certificate of {address}; "
            "what is trusted now did not"
        )
    if "NotValidForName" in text:
        return f"{SERVER_NAME} has to be a name that the certificate of {address} is for"
    if "InvalidContentType" in text:
        return f"{address} does not speak TLS, which {TLS}, {API_KEY} or a certificate asks for"
    if "PrivateKeyParse" in text or "CertificateParse" in text:
        return f"{CERTIFICATE} or {KEY} is no certificate or key in PEM"
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
        f"{address} lets nobody into namespace {namespace} who does not say who it is: set "
        f"{API_KEY}, or {CERTIFICATE} and {KEY}"
    )


async def _wanted(config: ClientConnectConfig) -> str:
    """What a server wants that closes the connection without a word; empty if that is not clear."""
    address = config["target_host"]
    wants = await _ask(address)
    if wants is None:
        return ""
    tls = config.get("tls")
    if not tls:
        return f"{TLS} has to be true: {address} speaks TLS"
    if not wants:
        return ""
    given = not isinstance(tls, bool) and tls.client_cert
    if given:
        return f"{CERTIFICATE} is not accepted by {address}"
    return f"{CERTIFICATE} and {KEY} have to be set: {address} wants to see a certificate"


async def _ask(address: str) -> bool | None:
    """Whether a server wants a client's certificate; None if it speaks no TLS, or not now.

    Nothing is sent and nothing is trusted: what it says goes into an error's text only.
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
    """Whether the server ends what it has agreed to, instead of saying the first word."""
    try:
        return not await reader.read(1)
    except (ssl.SSLError, ConnectionError):
        return True
