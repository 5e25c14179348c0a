"""A shell that takes one command after another, like a terminal without colours and prompts."""

import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_SECONDS = 180
"""No command in the documentation takes this long, even on a slow machine."""


@dataclass(frozen=True)
class Printed:
    """The output and the exit code of a command."""

    lines: list[str]
    code: int


class Shell:
    """A bash process with a folder and an environment; exported variables persist."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._mark = f"--{secrets.token_hex(8)}"
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def type(self, command: str) -> Printed:
        """Type a command and wait for it to end."""
        assert self._process.stdin is not None
        # The last command restores $?, for a reader who types `echo $?`.
        script = (
            f"{{\n{command}\n}} < /dev/null\n"
            f"__code=$?; printf '\\n%s %s\\n' {self._mark} $__code; (exit $__code)\n"
        )
        self._process.stdin.write(script.encode())
        self._process.stdin.flush()
        text, _, code = self._read().rpartition(f"\n{self._mark} ")
        return Printed(text.splitlines(), int(code))

    def close(self) -> None:
        """Kill the shell and its children, except processes that have left its session."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def _read(self) -> str:
        """Read everything up to the mark and the exit code after it."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        deadline = time.monotonic() + TIMEOUT_SECONDS
        found = b""
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not (self._mark.encode() in found and found.endswith(b"\n")):
                left = deadline - time.monotonic()
                if left < 0 or not selector.select(left):
                    raise AssertionError(f"no end after {TIMEOUT_SECONDS} s: {found.decode()}")
                piece = os.read(output, 65536)
                assert piece, f"the shell has ended: {found.decode()}"
                found += piece
        return found.decode().rstrip("\n")
