"""Connecting to Temporal, and distinguishing why that fails."""

import asyncio
from dataclasses import dataclass
from typing import Final

from temporalio.client import Client

from starter import temporal
from starter.doctor.findings import Setup
from workflows import plugin
from workflows.connecting import UnusableSettingsError


@dataclass(frozen=True, slots=True)
class Why:
    """Why Temporal cannot be reached."""

    says: str
    advice: str
    commands: tuple[str, ...] = ()


class NotReached(Exception):  # noqa: N818 - it is an outcome, not an error
    """The client could not connect to Temporal."""

    def __init__(self, why: Why) -> None:
        super().__init__(why.says)
        self.why = why


def named(setup: Setup) -> tuple[str, str]:
    """Return address and namespace of the Temporal to check. Raises NotReached."""
    try:
        found = plugin.connection(temporal.environment(setup.target))
    except (RuntimeError, ValueError) as error:
        advice = "check TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE"
        raise NotReached(Why(f"its settings are wrong: {error}", advice)) from error
    return found["target_host"], found["namespace"]


async def connect(setup: Setup) -> Client:
    """Connect to the Temporal that the environment names, or to the local fleet's.

    Raises NotReached.
    """
    address, _ = named(setup)
    environment = temporal.environment(setup.target)
    try:
        async with asyncio.timeout(temporal.CONNECT_WITHIN.total_seconds()):
            return await plugin.connect(environment)
    except TimeoutError as error:
        raise NotReached(why("timed out", address)) from error
    except UnusableSettingsError as error:
        advice = "set it here and for fleetgate's workers"
        raise NotReached(Why(str(error), advice)) from error
    except (RuntimeError, ValueError, OSError) as error:
        raise NotReached(why(str(error), address)) from error


_CERTIFICATE: Final = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
_REASONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("expired", "the certificate has expired, or a clock is wrong", "renew it"),
    ("certificaterequired", "it requires a client certificate",
     f"set {_CERTIFICATE}"),
    ("dns error", "its host name cannot be resolved", "correct the host name"),
    ("connection refused", "connection refused", "start it, or use another address"),
    ("timed out", "no answer in time", "check the address, and firewalls in between"),
)  # fmt: skip
"""Parts of the client's texts, what they mean, and what to do. The first match counts.

Errors caused by a setting are explained in `workflows.connecting` already.
"""


def why(text: str, address: str) -> Why:
    """Explain an error of Temporal's client; case, spaces and underscores do not matter."""
    flat = text.lower().replace("_", "")
    for part, says, advice in _REASONS:
        if part in flat or part in flat.replace(" ", ""):
            return Why(says, f"{advice} (TEMPORAL_ADDRESS is {address})")
    return Why(text, f"check TEMPORAL_ADDRESS, which is {address}, and the TLS settings")
