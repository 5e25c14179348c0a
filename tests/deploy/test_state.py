"""The state that a fleet keeps from one `up` to the next."""

import errno
import os
import socket
import tempfile
from contextlib import closing
from pathlib import Path
from time import time

import pytest

from deploy.local import ports
from deploy.local.errors import DiskFull, LocalFleetError, WrongSize
from deploy.local.files import disk_full_explained
from deploy.local.state import FleetState, load, save, sized


def none_runs(_: str) -> bool:
    return False


def test_a_new_fleet_has_three_members() -> None:
    assert sized(None, members=None).members == ("member1", "member2", "member3")


def test_a_fleet_keeps_its_size_by_default() -> None:
    assert len(sized(sized(None, members=5), members=None).members) == 5


def test_a_fleet_grows_and_keeps_its_tokens() -> None:
    small = sized(None, members=1).with_tokens()

    grown = sized(small, members=2).with_tokens()

    assert grown.members == ("member1", "member2")
    assert grown.tokens["member1"] == small.tokens["member1"]
    assert len(set(grown.tokens.values())) == 4, "the worker has one as well"


def test_a_fleet_does_not_shrink_and_says_what_to_do_instead() -> None:
    with pytest.raises(WrongSize, match=r"has 5 members and cannot shrink to 2.*down --purge"):
        sized(sized(None, members=5), members=2)


def test_ports_are_kept_while_they_are_free() -> None:
    first = sized(None, members=1).with_ports(is_running=none_runs)

    assert first.with_ports(is_running=none_runs).ports == first.ports
    assert len(set(first.ports.values())) == len(first.ports)


def test_a_port_that_another_program_took_is_replaced() -> None:
    first = sized(None, members=1).with_ports(is_running=none_runs)
    with closing(socket.create_server((ports.LOOPBACK, first.ports["hub-apiserver"]))):
        second = first.with_ports(is_running=none_runs)

    changed = {use for use in first.ports if first.ports[use] != second.ports[use]}
    assert changed == {"hub-apiserver"}


def test_fleets_that_start_at_the_same_time_choose_different_ports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """None of their servers listens yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(ports, "_ATTEMPTS", 10)
    monkeypatch.setattr(ports, "_CANDIDATES", range(29_990, 30_000))
    free = [each for each in range(29_990, 30_000) if ports.is_free(each)]
    assert sorted(ports.choose() for _ in free) == free
    with pytest.raises(OSError, match="no free port"):
        ports.choose()
    (kept,) = tmp_path.iterdir()
    long_ago = time() - 2 * ports.KEPT_FOR.total_seconds()
    os.utime(kept / str(free[3]), (long_ago, long_ago))
    assert ports.choose() == free[3]


def test_a_running_process_keeps_its_ports() -> None:
    first = sized(None, members=1).with_ports(is_running=none_runs)
    with closing(socket.create_server((ports.LOOPBACK, first.ports["temporal/ui"]))):
        second = first.with_ports(is_running=lambda name: name == "temporal")

    assert second.ports == first.ports


def test_the_state_is_read_as_saved_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = sized(None, members=2).with_tokens()

    save(path, state)

    assert load(path) == state
    assert path.stat().st_mode & 0o777 == 0o600


def test_there_is_no_state_before_the_first_up(tmp_path: Path) -> None:
    assert load(tmp_path / "state.json") is None


def test_a_damaged_state_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text("{")

    with pytest.raises(LocalFleetError, match="down --purge"):
        load(path)


def test_a_full_disk_is_an_error_that_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match=str(tmp_path)), disk_full_explained(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_processes_are_listed_in_dependency_order() -> None:
    assert FleetState(members=("member1",)).processes == [
        "etcd",
        "temporal",
        "hub-apiserver",
        "hub-controllers",
        "member1-apiserver",
        "member1-controllers",
        "simulated-nodes",
        "worker",
    ]
