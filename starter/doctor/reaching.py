"""Reaching Temporal, and telling the ways apart in which that fails."""

import asyncio
from dataclasses import dataclass
from typing import Final

from temporalio.client import Client

from starter import temporal
from starter.doctor.setup import Setup
from workflows import plugin
from workflows.connecting import UnusableSettingsError


@dataclass(frozen=True, slots=True)
class Why:
    """Why Temporal does not let one in."""

    says: str
    advice: str
    commands: tuple[str, ...] = ()


class NotReached(Exception):  # noqa: N818 - it is an outcome, not an error
    """Temporal did not let the client in."""

    def __init__(self, why: Why) -> None:
        super().__init__(why.says)
        self.why = why


def named(setup: Setup) -> tuple[str, str]:
    """Address and namespace of the Temporal that is meant. Raises NotReached."""
    try:
        found = plugin.connection(temporal.environment(setup.target))
    except (RuntimeError, ValueError) as error:
        advice = "see TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE"
        raise NotReached(Why(f"its settings are wrong: {error}", advice)) from error
    return found["target_host"], found["namespace"]


async def connect(setup: Setup) -> Client:
    """A client of the Temporal that the environment names, or of the local fleet's.

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
        advice = "set it here, and where fleetgate's worker runs"
        raise NotReached(Why(str(error), advice)) from error
    except (RuntimeError, ValueError, OSError) as error:
        raise NotReached(why(str(error), address)) from error


_CERTIFICATE: Final = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
_REASONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("expired", "the certificate has expired, or a clock is wrong", "renew it"),
    ("certificaterequired", "it wants a client certificate",
     f"give it one with {_CERTIFICATE}"),
    ("dns error", "the name of its host is not known", "see TEMPORAL_ADDRESS"),
    ("connection refused", "nobody listens there", "start it, or name another one"),
    ("timed out", "no answer in time", "see the address, and firewalls on the way"),
)  # fmt: skip
"""Parts of the client's texts, what they mean, and what to do. The first that fits counts.

What a setting is to blame for is told by `workflows.connecting` already.
"""


def why(text: str, address: str) -> Why:
    """Say what an error of Temporal's client means; case and blanks do not matter."""
    flat = text.lower().replace("_", "")
    for part, says, advice in _REASONS:
        if part in flat or part in flat.replace(" ", ""):
            return Why(says, f"{advice} (TEMPORAL_ADDRESS is {address})")
    return Why(text, f"see TEMPORAL_ADDRESS, which is {address}, and TLS")
