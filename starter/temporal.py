"""Connecting to the Temporal that drives the runs of a hub."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from temporalio.client import Client

from starter.failures import CommandFailure, ExitCode
from starter.targets import Target
from workflows import plugin
from workflows.connecting import UnusableSettingsError

CONNECT_WITHIN: Final = timedelta(seconds=3)
"""A Temporal that takes longer counts as unreachable: a person is waiting."""
_NAMES_A_TEMPORAL: Final = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")
"""Variables that select a Temporal; without them the SDK uses localhost:7233."""


class OutOfReach(Exception):  # noqa: N818 - it is an outcome, not an error
    """Temporal is unreachable or fails; the text says why."""


async def connect(target: Target) -> Client:
    """Connect to the Temporal that the environment names, or else to the local fleet's.

    Raises OutOfReach, and CommandFailure for invalid settings.
    """
    try:
        with wrong_settings_explained():
            async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
                return await plugin.connect(environment(target))
    except (TimeoutError, RuntimeError, OSError) as error:
        raise OutOfReach("Temporal cannot be reached") from error


@contextmanager
def wrong_settings_explained() -> Iterator[None]:
    """Turn invalid Temporal settings into a usage error of the command.

    It is here and not in `starter.failures` because Temporal's client is slow to import: a command
    that does not talk to Temporal must not wait for it.
    """
    try:
        yield
    except UnusableSettingsError as error:
        raise CommandFailure(str(error), exit_code=ExitCode.USAGE) from error


def environment(target: Target) -> dict[str, str]:
    """Return the environment, with the local fleet's Temporal if the hub belongs to that fleet.

    A Temporal that the environment names takes precedence.
    """
    named = any(name in os.environ for name in _NAMES_A_TEMPORAL)
    if named or target.fleet is None:
        return dict(os.environ)
    from deploy.local import ports, state  # here, because only a local fleet needs them

    known = state.load(target.fleet.state)
    if known is None:
        return dict(os.environ)
    return {**os.environ, "TEMPORAL_ADDRESS": f"{ports.LOOPBACK}:{known.ports[state.TEMPORAL]}"}
