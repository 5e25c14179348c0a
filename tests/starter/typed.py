"""Typing a command in the test's own process, and what it gives back."""

import asyncio
import io
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TextIO

from starter import cli


@dataclass(frozen=True)
class Typed:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Fleetgate = Callable[..., Coroutine[Any, Any, Typed]]

_PRINTED: ContextVar[dict[str, io.StringIO]] = ContextVar("printed")


async def type_command(arguments: Sequence[str]) -> Typed:
    """Run a command as the shell would; tests beside this one may type theirs meanwhile."""
    with _captured() as printed:
        # In a thread, because a command brings its own event loop.
        code = await asyncio.to_thread(cli.run, arguments)
    return Typed(code, printed["stdout"].getvalue(), printed["stderr"].getvalue())


@contextmanager
def _captured() -> Iterator[dict[str, io.StringIO]]:
    """Keep what this command prints, and leave what others print where it goes."""
    printed = {"stdout": io.StringIO(), "stderr": io.StringIO()}
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
