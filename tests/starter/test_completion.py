"""Shell completion of commands, options and names on the hub."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub, Json
from starter import cli
from starter.completion import kubectl, live
from starter.groups import OF_RUN as RUN
from tests.starter.runs import RunOnHub
from tests.starter.typed import Fleetgate
from tests.support.eventually import PATIENCE, wait
from tests.support.hand_placement import HandPlacement
from tests.support.limits import lifted

GIVEN_UP_AFTER = live.WITHIN

SCRIPTS = {
    "bash": "complete -o nosort -F",
    "zsh": "#compdef fleetgate",
    "fish": "complete --no-files",
    "powershell": "Register-ArgumentCompleter",
}

patient = lifted(live, "WITHIN", timedelta(seconds=PATIENCE))


@pytest.mark.parametrize(("shell", "line"), SCRIPTS.items())
async def test_the_script_of_each_shell_is_printed(
    fleetgate: Fleetgate, shell: str, line: str
) -> None:
    typed = await fleetgate("completion", shell)
    assert typed.code == 0, typed.err
    assert line in typed.out
    assert "_FLEETGATE_COMPLETE" in typed.out


async def test_an_unknown_shell_is_a_usage_error(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("completion", "tcsh")
    assert typed.code == 2
    assert "'bash', 'zsh', 'fish', 'powershell'" in typed.err


async def offered(*words: str) -> list[str]:
    """Return what kubectl is offered for the last word, without descriptions and directive."""
    lines = await asyncio.to_thread(lambda: list(kubectl.lines(words)))
    assert lines[-1] in {":0", ":4"}
    return [line.partition("\t")[0] for line in lines[:-1]]


async def test_commands_are_completed_without_importing_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "run", ("starter.no_such_module:run", "gone"))
    assert await offered("") == list(cli.COMMANDS)
    assert await offered("ru") == ["run"]


async def test_subcommands_options_and_choices_are_completed() -> None:
    assert await offered("run", "st") == [name for name in RUN if name.startswith("st")]
    assert await offered("run", "list", "--all") == ["--all-namespaces"]
    assert await offered("run", "list", "-o", "y") == ["yaml"]


async def test_file_names_are_left_to_the_shell() -> None:
    assert list(kubectl.lines(["plan", "-f", ""])) == [":0"]
    assert list(kubectl.lines(["plan", "--no-such-option"])) == [":4"]


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
async def world(
    request: pytest.FixtureRequest, hub: Hub, fleetgate: Fleetgate, unique: str
) -> AsyncIterator[RunOnHub]:
    """A run at a gate, one that has succeeded, and a placement with two snapshots."""
    scope: Scope = request.param
    waiting = RunOnHub(hub, scope, unique, fleetgate)
    await waiting.create("approval-before-canary", state="Run")
    done = RunOnHub(hub, scope, f"{unique}-done", fleetgate)
    await done.create("succeeded")
    placement = HandPlacement(hub, scope, unique, namespace=waiting.namespace)
    await placement.create({}, versions=2)
    await placement.strategy(unique, [{"name": "one"}])
    yield waiting
    await waiting.remove()
    await done.remove()
    await hub.delete(scope.placement, unique, namespace=waiting.namespace)


async def test_runs_are_offered_only_to_commands_that_apply_to_them(world: RunOnHub) -> None:
    name, done = world.name, f"{world.name}-done"

    async def runs(*words: str) -> set[str]:
        return {each for each in await offered(*words, *world.flags, "") if name in each}

    for verb in ("show", "watch", "delete"):
        assert await runs("run", verb) == {name, done}
    for verb in ("start", "stop"):
        assert await runs("run", verb) == {name}
    assert await runs("approve") == {name}
    assert await runs("run", "delete", done) == {name}


async def test_names_are_completed_from_what_was_typed_so_far(world: RunOnHub) -> None:
    name, flags = world.name, world.flags
    assert await offered("approve", name, *flags, "") == ["canary"]
    assert await offered("rollback", *flags, name[:5]) == [name]
    assert await offered("rollback", name, *flags, "--to", "") == ["0", "1"]
    assert await offered("rollback", name, *flags, "--strategy", name[:5]) == [name]
    assert await offered("snapshot", "diff", name, "0", *flags, "") == ["0", "1", "latest", "now"]
    assert await offered("run", "create", "new", *flags, "--placement", name[:5]) == [name]
    assert await offered("plan", name, *flags, name[:5]) == [name]


async def test_what_a_run_is_doing_is_shown_beside_its_name(world: RunOnHub) -> None:
    words = ["run", "stop", *world.flags, world.name]
    lines = await asyncio.to_thread(lambda: list(kubectl.lines(words)))
    assert lines == [f"{world.name}\twaiting: approval before", ":4"]


@pytest.fixture
def kubeconfig(hub_kubeconfig: Path) -> Json:
    """The hub's kubeconfig, parsed."""
    found: Json = yaml.safe_load(hub_kubeconfig.read_text())
    return found


@pytest.mark.usefixtures("fleetgate")
async def test_namespaces_and_contexts_are_completed(
    hub_kubeconfig: Path, kubeconfig: Json
) -> None:
    assert "kube-system" in await offered("run", "list", "-n", "kube-")
    names = [each["name"] for each in kubeconfig["contexts"]]
    assert await offered("run", "list", "--context", "") == names
    there = ["--kubeconfig", str(hub_kubeconfig), "--context", ""]
    assert await offered("run", "list", *there) == names


@pytest.mark.usefixtures("in_folder_of_a_fleet")
async def test_in_the_folder_of_a_local_fleet_its_hub_is_queried_silently(
    kubeconfig: Json, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "kube-system" in await offered("run", "list", "-n", "")
    names = [each["name"] for each in kubeconfig["contexts"]]
    assert await offered("run", "list", "--context", "") == names
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def away(kubeconfig: Json, tmp_path: Path) -> Callable[[str], Path]:
    """A function that makes the kubeconfig of an API server at an address."""

    def make(address: str) -> Path:
        kubeconfig["clusters"][0]["cluster"]["server"] = f"https://{address}"
        path = tmp_path / "away.kubeconfig"
        path.write_text(yaml.safe_dump(kubeconfig))
        return path

    return make


async def test_nothing_is_offered_or_printed_if_no_hub_answers(
    away: Callable[[str], Path], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kubeconfig = str(away("127.0.0.1:1"))
    assert await offered("run", "show", "--kubeconfig", kubeconfig, "") == []
    missing = str(tmp_path / "none")
    assert await offered("run", "show", "--kubeconfig", missing, "") == []
    assert await offered("run", "list", "--kubeconfig", missing, "--context", "") == []
    assert capfd.readouterr() == ("", "")


async def test_a_hub_that_does_not_answer_times_out_soon(
    away: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "WITHIN", GIVEN_UP_AFTER)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host, port = silent.getsockname()
        assert await offered("run", "show", "--kubeconfig", str(away(f"{host}:{port}")), "") == []


def printed(command: list[str], environment: dict[str, str]) -> tuple[str, str]:
    """Return what a command prints to stdout and stderr."""
    found = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    return found.stdout, found.stderr


def test_kubectl_and_bash_get_answers_from_real_processes(hub_kubeconfig: Path) -> None:
    folder = Path(sys.executable).parent
    environment = os.environ | {"KUBECONFIG": str(hub_kubeconfig)}
    asked = [str(folder / "kubectl_complete-fleetgate"), "run", "list", "-n", "kube-s"]
    asked_by_bash = environment | {
        "_FLEETGATE_COMPLETE": "bash_complete",
        "COMP_WORDS": "fleetgate run list -n kube-s",
        "COMP_CWORD": "4",
    }
    # A process offers nothing if the hub is slow to answer, so try again.
    answer = ("kube-system\n:4\n", "")
    wait(lambda: printed(asked, environment), lambda found: found == answer)
    answer_to_bash = ("plain,kube-system\n", "")
    wait(
        lambda: printed([str(folder / "fleetgate")], asked_by_bash),
        lambda found: found == answer_to_bash,
    )
