"""The identity of a process, and whether another process has certainly ended."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub import process_identity
from hub.identity import is_gone
from tests.support.eventually import wait

ROOT = Path(__file__).parents[2]
_TELLS = (
    "import sys\nfrom hub import process_identity\nprint(process_identity(), flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture
def other() -> Iterator[subprocess.Popen[str]]:
    """Start another process on this machine, which prints its identity and waits."""
    with subprocess.Popen(
        [sys.executable, "-c", _TELLS],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield process
        process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_an_identity_contains_host_and_process_id(other: subprocess.Popen[str]) -> None:
    assert said(other).startswith(f"{socket.gethostname()}_{other.pid}_")


def test_a_process_is_gone_only_after_it_has_ended(
    other: subprocess.Popen[str],
) -> None:
    identity = said(other)
    assert not is_gone(identity)
    other.send_signal(signal.SIGSTOP)
    assert not is_gone(identity)
    other.kill()
    other.wait()
    assert is_gone(identity)


def test_a_zombie_process_is_gone(
    other: subprocess.Popen[str],
) -> None:
    identity = said(other)
    other.kill()
    # Its output ends when the process does; after that only its parent keeps its process id.
    assert other.stdout is not None
    assert other.stdout.read() == ""
    wait(lambda: is_gone(identity))
    assert other.returncode is None


def test_an_earlier_process_with_the_same_process_id_is_gone() -> None:
    before, now = process_identity(), process_identity()
    assert before != now
    assert is_gone(before)


@pytest.mark.parametrize("changed", [0, 2])
def test_nothing_is_known_about_a_process_in_another_place(changed: int) -> None:
    parts = process_identity().split("_")
    parts[changed] = "elsewhere"
    assert not is_gone("_".join(parts))


@pytest.mark.parametrize("name", ["", "fleetgate-0", "a_b_c_d", "a_1", "___"])
def test_nothing_is_known_about_a_custom_name(name: str) -> None:
    assert not is_gone(name)
