"""The command line as a whole: help, wrong usage, failures, where the hub is."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from starter import cli
from starter.groups import OF_RUN as RUN
from starter.groups import OF_SNAPSHOT as SNAPSHOT
from tests.starter.typed import Fleetgate


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*command.split(), "--help"]) == 0
    assert "Usage: fleetgate" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        *("approve", "rollback", "completion", "crds", "policies", "version", "help", "worker"),
        *(f"run {each}" for each in RUN),
        *(f"snapshot {each}" for each in SNAPSHOT),
    ],
)
def test_examples_are_shown_one_per_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*command.split(), "--help"]) == 0
    help_text = capsys.readouterr().out
    assert f"\n  Examples:\n    fleetgate {command}" in help_text
    assert "\\b" not in help_text


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run", "nonsense"], ["run", "show"], ["run", "list", "-o", "xml"]]
)
def test_wrong_usage_is_one_line_with_a_pointer_to_the_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    error = capsys.readouterr().err
    assert re.fullmatch(r"error: .*\n  see `fleetgate.* --help`\n", error)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["rum", "list"], "unknown command 'rum'; did you mean 'run'?\n  see `fleetgate --help`"),
        (
            ["run", "lsit"],
            "unknown command 'lsit'; did you mean 'list'?\n  see `fleetgate run --help`",
        ),
    ],
)
def test_a_misspelled_command_gets_a_suggestion(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    assert capsys.readouterr().err == f"error: {error}\n"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["pause", "v2"], "run stop"),
        (["resume", "v2"], "run start"),
        (["describe", "v2"], "run show"),
        (["list"], "run list"),
    ],
)
def test_a_command_of_another_tool_gets_the_suggestion_that_does_the_same(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    assert f"did you mean {meant!r}?" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["undelete", "unskip", "restop"])
def test_a_suggestion_is_never_the_opposite_of_what_was_typed(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["run", typed, "v2"]) == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "runs"),
    [
        (["get"], "list"),
        (["get", "v2"], "show"),
        (["describe", "v2"], "show"),
        (["pause", "v2"], "stop"),
        (["abort", "v2"], "stop"),
        (["resume", "v2"], "start"),
    ],
)
def test_words_of_other_tools_run_the_command_that_does_the_same(
    typed: list[str], runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["run", *typed, "--help"]) == 0
    assert f"fleetgate run {runs}" in capsys.readouterr().out


@pytest.mark.parametrize("group", [[], ["run"], ["local"], ["-n", "team", "policy"]])
def test_a_group_without_a_command_shows_its_help_on_stdout(
    group: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(group) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Usage: fleetgate")
    assert printed.err == ""


@pytest.mark.parametrize("command", [[], ["run"], ["run", "list"], ["approve"]])
def test_help_shows_what_the_flag_shows(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*command, "--help"]) == 0
    by_flag = capsys.readouterr().out
    assert cli.run(["help", *command]) == 0
    assert capsys.readouterr().out == by_flag


def test_help_of_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["help", "run", "list", "nonsense"]) == 2
    assert "fleetgate run list has no command 'nonsense'" in capsys.readouterr().err


def test_the_version_of_the_client_needs_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["version", "--client"]) == 0
    assert capsys.readouterr().out == f"client  {version('fleetgate')}\n"


async def test_version_says_what_cannot_be_reached(fleetgate: Fleetgate, hub_away: Path) -> None:
    typed = await fleetgate("version")
    assert typed.code == 0, typed.err
    lines = dict(line.split(maxsplit=1) for line in typed.out.splitlines())
    assert lines["hub"].startswith("v1.")
    assert lines["temporal"] == "cannot be reached"
    assert lines["workers"].startswith("unknown")
    away = await fleetgate("version", "--kubeconfig", str(hub_away))
    assert "\nhub       cannot be reached: " in away.out


@pytest.fixture
def hub_away(hub_kubeconfig: Path, tmp_path: Path) -> Path:
    """Kubeconfig of an API server that does not answer."""
    config = yaml.safe_load(hub_kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    path = tmp_path / "away.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def test_an_unreachable_hub_is_a_failure_with_advice(
    fleetgate: Fleetgate, hub_away: Path
) -> None:
    typed = await fleetgate("run", "list", "--kubeconfig", str(hub_away))
    assert typed.code == 1
    assert typed.err.startswith("error: ")
    assert "fleetgate local status" in typed.err
    assert "Traceback" not in typed.err


async def test_a_missing_kubeconfig_is_a_usage_error(fleetgate: Fleetgate, tmp_path: Path) -> None:
    typed = await fleetgate("run", "list", "--kubeconfig", str(tmp_path / "none"))
    assert typed.code == 2
    assert "none" in typed.err


@pytest.mark.usefixtures("in_folder_of_a_fleet")
async def test_in_the_folder_of_a_local_fleet_its_hub_is_used(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("run", "list")
    assert typed.code == 0, typed.err
    assert "using the local fleet: .fleetgate/hub.kubeconfig" in typed.err


async def test_crds_are_printed_as_manifests_for_kubectl(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("crds")
    kinds = [each["spec"]["names"]["kind"] for each in yaml.safe_load_all(typed.out)]
    assert "ClusterStagedUpdateRun" in kinds
    assert "MemberCluster" in kinds


async def test_policies_are_printed_as_manifests_for_kubectl(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("policies")
    kinds = {each["kind"] for each in yaml.safe_load_all(typed.out)}
    assert kinds == {
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    }


async def test_crds_can_be_installed_again(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("crds", "--apply")
    assert typed.code == 0, typed.err
    assert "CRDs are served by https://" in typed.out


def test_a_bug_is_reported_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "run", ("starter.no_such_module:run", "gone"))
    assert cli.run(["run", "list"]) == 1
    assert capsys.readouterr().err.startswith("error: unexpected ModuleNotFoundError")
    with pytest.raises(ModuleNotFoundError):
        cli.run(["--debug", "run", "list"])
