"""A shell in which one types command by command, as in a terminal, but for colours and prompts."""

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
"""No command of the documentation takes that long, on a slow machine either."""


@dataclass(frozen=True)
class Printed:
    """What a command left behind."""

    lines: list[str]
    code: int


class Shell:
    """A bash with a folder and an environment; what commands export stays."""

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
        """Type a command and wait until it ended."""
        assert self._process.stdin is not None
        # The last word brings back what $? was, for a reader who types `echo $?`.
        script = (
            f"{{\n{command}\n}} < /dev/null\n"
            f"__code=$?; printf '\\n%s %s\\n' {self._mark} $__code; (exit $__code)\n"
        )
        self._process.stdin.write(script.encode())
        self._process.stdin.flush()
        text, _, code = self._read().rpartition(f"\n{self._mark} ")
        return Printed(text.splitlines(), int(code))

    def close(self) -> None:
        """End the shell and what it started, but for processes that left its session."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def _read(self) -> str:
        """Everything up to the mark and the code behind it."""
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
