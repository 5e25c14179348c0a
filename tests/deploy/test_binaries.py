"""Programs are named, found, downloaded or built, in this order."""

import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploy.local.binaries import Finder
from deploy.local.errors import BinaryMissing
from deploy.local.programs import Program
from deploy.local.progress import silent
from tests.deploy.programs import (
    DOES_NOT_RUN,
    GO,
    ReleaseServer,
    archive,
    release,
    thing,
    write_program,
)

ARCHIVE = f"thing-{platform.system().lower()}.tar.gz"


class Machine:
    """A machine with an empty PATH and an empty cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "path"
        self.path.mkdir()
        self.cached = folder / "cache/fleetgate/bin/v1/thing"
        self.calls = folder / "calls"
        self.environment = {
            # The programs of the tests are scripts and need the system's tools.
            "PATH": f"{self.path}:/usr/bin:/bin",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "CALLS": str(self.calls),
        }

    def find(self, program: Program) -> Path:
        return Finder(self.environment, progress=silent()).find(program)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_explicit_path_wins_over_the_path_and_the_cache(machine: Machine) -> None:
    named = write_program(machine.folder / "named/thing")
    write_program(machine.path / "thing")
    write_program(machine.cached)
    machine.environment["FLEETGATE_THING"] = str(named)

    assert machine.find(thing()) == named


def test_an_explicit_path_that_does_not_run_is_an_error_that_names_the_variable(
    machine: Machine,
) -> None:
    write_program(machine.path / "thing")
    machine.environment["FLEETGATE_THING"] = str(machine.folder / "nowhere")

    with pytest.raises(BinaryMissing, match=r"FLEETGATE_THING=.*nowhere names no program"):
        machine.find(thing())


def test_the_path_wins_over_the_cache(machine: Machine) -> None:
    on_path = write_program(machine.path / "thing")
    write_program(machine.cached)

    assert machine.find(thing()) == on_path


def test_a_program_on_the_path_that_does_not_run_is_passed_over(machine: Machine) -> None:
    write_program(machine.path / "thing", DOES_NOT_RUN)
    write_program(machine.cached)

    assert machine.find(thing()) == machine.cached


def test_a_published_program_is_downloaded_into_the_cache(machine: Machine) -> None:
    with ReleaseServer(release(ARCHIVE, archive())) as server:
        found = machine.find(thing(server.url))

    assert found == machine.cached
    assert [path.name for path in machine.cached.parent.iterdir() if path.is_dir()] == []


def test_a_download_with_another_checksum_is_refused(machine: Machine) -> None:
    machine.environment["PATH"] = str(machine.path)
    with (
        ReleaseServer(release(ARCHIVE, archive(), digest="f" * 64)) as server,
        pytest.raises(BinaryMissing, match=f"but {'f' * 64} was published"),
    ):
        machine.find(thing(server.url))

    assert not machine.cached.exists()


def test_a_download_that_does_not_run_here_is_not_kept(machine: Machine) -> None:
    machine.environment["PATH"] = str(machine.path)
    with (
        ReleaseServer(release(ARCHIVE, archive(DOES_NOT_RUN))) as server,
        pytest.raises(BinaryMissing, match="does not answer `--version`"),
    ):
        machine.find(thing(server.url))

    assert not machine.cached.exists()


def test_what_an_interrupted_download_left_is_removed_and_not_used(machine: Machine) -> None:
    remains = write_program(machine.cached.parent / ".thing-abc/thing", DOES_NOT_RUN)
    with ReleaseServer(release(ARCHIVE, archive())) as server:
        machine.find(thing(server.url))

    assert not remains.parent.exists()


def test_without_a_release_go_builds_from_a_copy_of_the_recipe(machine: Machine) -> None:
    write_program(machine.path / "go", GO)
    recipe = machine.folder / "recipe"
    recipe.mkdir()
    (recipe / "go.mod").write_text("module thing\n")

    assert machine.find(thing(recipe=recipe)) == machine.cached
    assert " build -mod=readonly -trimpath " in machine.calls.read_text()
    assert [path.name for path in recipe.iterdir()] == ["go.mod"]


def test_without_a_recipe_go_installs_the_version(machine: Machine) -> None:
    write_program(machine.path / "go", GO)

    assert machine.find(thing()) == machine.cached
    assert machine.calls.read_text().strip().endswith("example.org/thing@v1")


def test_when_nothing_works_one_error_lists_what_was_tried_and_the_ways_out(
    machine: Machine,
) -> None:
    machine.environment["PATH"] = str(machine.path)

    with pytest.raises(BinaryMissing) as raised:
        machine.find(thing())

    text = str(raised.value)
    assert text.startswith("thing v1 is needed and there is no way to get it. Tried:\n")
    assert "  FLEETGATE_THING: not set\n" in text
    assert "  PATH: no thing\n" in text
    assert f"  cache: nothing at {machine.cached}\n" in text
    assert "  download: cannot reach 127.0.0.1: " in text
    assert "  build: there is no `go` on the PATH\n" in text
    assert "set FLEETGATE_THING" in text
    assert "install Go" in text


def test_two_at_once_get_a_program_once(machine: Machine) -> None:
    with (
        ReleaseServer(release(ARCHIVE, archive())) as server,
        ThreadPoolExecutor(max_workers=2) as both,
    ):
        found = list(both.map(machine.find, [thing(server.url)] * 2))

    assert found == [machine.cached, machine.cached]
    assert server.requests[ARCHIVE] == 1
