"""Running a command in the test's own process, and what it returns."""

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
from starter.run import watching
from tests.support.eventually import PATIENCE


@dataclass(frozen=True)
class Typed:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


Fleetgate = Callable[..., Coroutine[Any, Any, Typed]]

Printed = dict[str, io.StringIO]
"""What a command has printed so far, by the name of the stream."""

_PRINTED: ContextVar[Printed] = ContextVar("printed")


def make_patient(process: pytest.MonkeyPatch) -> None:
    """Make commands wait longer for a busy hub or Temporal than they would for a person."""
    limit = timedelta(seconds=PATIENCE)
    process.setattr(temporal, "CONNECT_WITHIN", limit)
    process.setattr(messaging, "ANSWER_WITHIN", limit)
    process.setattr(watching, "ESTIMATE_WITHIN", limit)


def nothing_printed() -> Printed:
    """Return empty streams, for a command that is read while it runs."""
    return {"stdout": io.StringIO(), "stderr": io.StringIO()}


async def type_command(arguments: Sequence[str], *, printed: Printed | None = None) -> Typed:
    """Run a command as the shell would; other tests can run theirs at the same time."""
    with _captured(printed or nothing_printed()) as streams:
        code = await _in_thread(lambda: cli.run(arguments))
    return Typed(code, streams["stdout"].getvalue(), streams["stderr"].getvalue())


async def _in_thread(run: Callable[[], int]) -> int:
    """Run a command in a thread, so that it can have its own event loop.

    The thread is a daemon, unlike those of asyncio: a command that a failed test leaves behind
    would keep the session from ending.
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
    """Capture what this command prints, without affecting what others print."""
    token = _PRINTED.set(printed)
    for name in printed:
        if not isinstance(getattr(sys, name), _Routed):
            setattr(sys, name, _Routed(name, getattr(sys, name)))
    try:
        yield printed
    finally:
        _PRINTED.reset(token)


class _Routed(io.TextIOBase):
    """A stream of the process that routes the output of each command to its own buffer."""

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
