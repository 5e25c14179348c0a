"""The command line as a whole: help, wrong usage, failures, where the hub is."""

import re
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
        *("approve", "rollback", "completion", "crds", "policies", "worker"),
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
