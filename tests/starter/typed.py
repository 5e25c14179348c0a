"""Typing a command in the test's own process, and what it gives back."""

import asyncio
import contextvars
import io
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TextIO

import pytest

from starter import cli, messaging, temporal
from starter.run import earlier
from tests.support.eventually import PATIENCE


@dataclass(frozen=True)
class Typed:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Fleetgate = Callable[..., Coroutine[Any, Any, Typed]]

Printed = dict[str, io.StringIO]
"""What a command has printed so far, by the name of the stream."""

_PRINTED: ContextVar[Printed] = ContextVar("printed")


def make_patient(process: pytest.MonkeyPatch) -> None:
    """Have commands wait for a busy hub or Temporal, where a person would be told it is away."""
    limit = timedelta(seconds=PATIENCE)
    process.setattr(temporal, "CONNECT_WITHIN", limit)
    process.setattr(messaging, "ANSWER_WITHIN", limit)
    process.setattr(earlier, "WITHIN", limit)


def nothing_printed() -> Printed:
    """Return empty streams, for a command that is read while it goes on."""
    return {"stdout": io.StringIO(), "stderr": io.StringIO()}


async def type_command(arguments: Sequence[str], *, printed: Printed | None = None) -> Typed:
    """Run a command as the shell would; tests beside this one may type theirs meanwhile."""
    with _captured(printed or nothing_printed()) as streams:
        code = await _in_thread(lambda: cli.run(arguments))
    return Typed(code, streams["stdout"].getvalue(), streams["stderr"].getvalue())


async def _in_thread(run: Callable[[], int]) -> int:
    """Let a command bring its own event loop.

    The thread is a daemon, unlike those of asyncio: a command that a failed test leaves behind
    would keep the session from its end.
    """
    ended: Future[int] = Future()
    ended.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def end() -> None:
        try:
            ended.set_result(context.run(run))
        except BaseException as error:  # noqa: BLE001 - it belongs to the test
            ended.set_exception(error)

    threading.Thread(target=end, daemon=True).start()
    return await asyncio.wrap_future(ended)


@contextmanager
def _captured(printed: Printed) -> Iterator[Printed]:
    """Keep what this command prints, and leave what others print where it goes."""
    token = _PRINTED.set(printed)
    for name in printed:
        if not isinstance(getattr(sys, name), _Routed):
            setattr(sys, name, _Routed(name, getattr(sys, name)))
    try:
        yield printed
    finally:
        _PRINTED.reset(token)


class _Routed(io.TextIOBase):
    """A stream of the process that gives each command's output to that command."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, name: str, process: TextIO) -> None:
        self._name = name
        self._process = process

    def write(self, text: str) -> int:
        printed = _PRINTED.get(None)
        return (printed[self._name] if printed else self._process).write(text)

    def flush(self) -> None:
        self._process.flush()
