"""Reaching the Temporal that drives the runs of a hub."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from temporalio.client import Client

from deploy.local.ports import LOOPBACK
from deploy.local.state import TEMPORAL, load
from starter.failures import ExitCode, Failure
from starter.targets import Target
from workflows import plugin
from workflows.connecting import UnusableSettingsError

CONNECT_WITHIN: Final = timedelta(seconds=3)
"""A Temporal that takes longer counts as out of reach: a person is waiting."""
_NAMES_A_TEMPORAL: Final = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")
"""Variables by which a person chooses a Temporal; without one the SDK takes localhost:7233."""


class OutOfReach(Exception):  # noqa: N818 - it is an outcome, not an error
    """Temporal does not answer, or not as it should; the text says so."""


async def connect(target: Target) -> Client:
    """A client of the Temporal that the environment names, or else of the local fleet's.

    Raises OutOfReach, and Failure for settings that can never work.
    """
    try:
        with wrong_settings_explained():
            async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
                return await plugin.connect(environment(target))
    except (TimeoutError, RuntimeError, OSError) as error:
        raise OutOfReach("Temporal cannot be reached") from error


@contextmanager
def wrong_settings_explained() -> Iterator[None]:
    """Raise settings of Temporal that can never work as wrong usage of the command.

    Here and not among the other failures, because Temporal's client is slow to import: a command
    that does not talk to Temporal must not wait for it.
    """
    try:
        yield
    except UnusableSettingsError as error:
        raise Failure(str(error), exit_code=ExitCode.USAGE) from error


def environment(target: Target) -> dict[str, str]:
    """The environment, with the local fleet's Temporal in it if the hub is that fleet's.

    A Temporal that the environment names wins.
    """
    named = any(name in os.environ for name in _NAMES_A_TEMPORAL)
    state = load(target.fleet.state) if target.fleet and not named else None
    if state is None:
        return dict(os.environ)
    return {**os.environ, "TEMPORAL_ADDRESS": f"{LOOPBACK}:{state.ports[TEMPORAL]}"}
