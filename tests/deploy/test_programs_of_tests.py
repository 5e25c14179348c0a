"""Programs are obtained before the tests that need them, while other tests already run."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from deploy.local.errors import BinaryMissing
from deploy.packaging import ROOT
from tests.deploy.programs import GO, thing, write_program
from tests.support import programs
from tests.support.programs import HELM, PROGRAMS

NO_TESTS: Final = 5


class Run:
    """One call, with a command in place of pytest that exits with a given code for each step."""

    def __init__(self, folder: Path) -> None:
        self.calls = folder / "pytest-calls"
        self.command = write_program(
            folder / "pytest",
            f"""#!/bin/sh
echo "$*" $(ls {folder}/cache/fleetgate/bin/v1/thing 2>/dev/null | wc -l) >> {self.calls}
case "$*" in *nothing) exit ${{FIRST:-0}} ;; *) exit ${{SECOND:-0}} ;; esac
""",
        )
        self.path = folder / "path"
        self.path.mkdir()
        self.environment = {
            "PATH": f"{self.path}:/usr/bin:/bin",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "CALLS": str(folder / "go-calls"),
        }

    def with_go(self) -> "Run":
        write_program(self.path / "go", GO)
        return self

    def __call__(self) -> int:
        command = (str(self.command), "-k", "some")
        return programs.main(command, programs=[thing()], environment=self.environment)

    def steps(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_tests_that_need_no_programs_run_while_programs_are_being_obtained(run: Run) -> None:
    assert run.with_go()() == 0

    first, second = run.steps()
    assert first.startswith("-k some --needing nothing ")
    assert second == "-k some --needing programs 1"


def test_all_tests_run_at_once_if_all_programs_are_present(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_path = write_program(run.path / "thing")
    became: list[Sequence[str]] = []
    monkeypatch.setattr(os, "execvp", lambda _, command: became.append(command))

    run()

    assert became == [[str(run.command), "-k", "some"]]
    assert capsys.readouterr().err == f"thing: on the PATH, {on_path}\n"


def test_a_program_that_cannot_be_obtained_fails_and_says_which_tests_were_not_run(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run.environment["PATH"] = str(run.path)

    assert run() == 1
    assert [step.startswith("-k some --needing nothing") for step in run.steps()] == [True]
    told = capsys.readouterr().err
    assert "error: cannot find, download or build thing v1. Tried:\n" in told
    assert "To fix this, set FLEETGATE_THING" in told
    assert told.endswith("\nThe tests that need programs were NOT run.\n")


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [(1, 0, 1), (0, 1, 1), (NO_TESTS, 0, 0), (0, NO_TESTS, 0), (NO_TESTS, NO_TESTS, NO_TESTS)],
)
def test_the_exit_code_combines_both_steps(
    first: int, second: int, code: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRST", str(first))
    monkeypatch.setenv("SECOND", str(second))

    assert run.with_go()() == code
    assert len(run.steps()) == 2


def test_an_interrupted_first_step_prevents_the_second(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRST", "2")
    write_program(run.path / "go", "#!/bin/sh\nexec sleep 600\n")

    with pytest.raises(SystemExit, match="2"):
        run()
    assert len(run.steps()) == 1


def test_a_missing_program_fails_a_test_with_instructions(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in run.environment.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(BinaryMissing, match="not on this machine: `make programs`"):
        programs.here(thing())


def test_tests_that_need_programs_are_recognised_by_their_fixtures() -> None:
    room = "tests/deploy/helm/test_values.py"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--needing", "nothing", room]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert "::test_every_setting_of_a_worker_has_a_value" in said
    assert "::test_a_wrong_value_is_refused" not in said
    assert "deselected" in said


def test_the_programs_of_the_tests_are_those_of_the_fleet_and_helm() -> None:
    assert [program.name for program in PROGRAMS] == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "temporal",
        "helm",
    ]
    assert HELM.mirror is not None
