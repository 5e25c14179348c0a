"""Making an operator's request to Temporal, with failures explained for people."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from starter import temporal
from starter.failures import CommandFailure, ExitCode
from workflows import plugin

ANSWER_WITHIN: Final = timedelta(seconds=10)
"""A person is waiting; a Temporal that takes longer counts as unreachable."""
NOT_ALLOWED: Final = (
    RPCStatusCode.PERMISSION_DENIED,
    RPCStatusCode.UNAUTHENTICATED,
    RPCStatusCode.UNIMPLEMENTED,  # as on servers that offer the operator API elsewhere
)
LOOK_AGAIN: Final = 0.5
"""Seconds between two polls for changes that Temporal sends no notification of."""
AnswerT = TypeVar("AnswerT")


def ask(
    work: Callable[[Client], Awaitable[AnswerT]],
    *,
    wish: str,
    advice: str,
    within: timedelta = ANSWER_WITHIN,
) -> AnswerT:
    """Connect and do the work.

    Raises CommandFailure; if Temporal denies the user what they wish, it carries the advice.
    """
    try:
        return asyncio.run(_ask(work, within))
    except RPCError as error:
        raise _explained(error, wish=wish, advice=advice) from error


async def _ask(work: Callable[[Client], Awaitable[AnswerT]], within: timedelta) -> AnswerT:
    with temporal.wrong_settings_explained():
        address = plugin.connection()["target_host"]
        client = await _connect(address)
    try:
        async with asyncio.timeout(within.total_seconds()):
            return await work(client)
    except TimeoutError as error:
        seconds = round(within.total_seconds())
        raise CommandFailure(
            f"Temporal at {address} did not finish within {seconds} s",
            advice="run the command again: it continues with what is left",
        ) from error


async def _connect(address: str) -> Client:
    try:
        async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
            return await plugin.connect()
    except (TimeoutError, RuntimeError, OSError) as error:
        raise CommandFailure(
            f"Temporal cannot be reached at {address}",
            advice="set TEMPORAL_ADDRESS to the host:port of another one",
        ) from error


async def until(look: Callable[[], Awaitable[bool]]) -> None:
    """Poll until `look` returns True."""
    while not await look():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(LOOK_AGAIN)


def _explained(error: RPCError, *, wish: str, advice: str) -> CommandFailure:
    if error.status in NOT_ALLOWED:
        return CommandFailure(
            f"Temporal does not allow you to {wish}: {error.message}", advice=advice
        )
    if error.status is RPCStatusCode.NOT_FOUND:
        return CommandFailure(
            f"Temporal says: {error.message}",
            advice="set TEMPORAL_NAMESPACE to an existing namespace",
            exit_code=ExitCode.NOT_FOUND,
        )
    return CommandFailure(f"Temporal says: {error.message}")
