"""Lists behave as kubectl's: scopes, labels, headings, formats, following changes."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
import yaml

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Kind
from hub import Hub
from starter import listing
from starter.listing import Source
from tests.starter.typed import Fleetgate
from tests.support.eventually import patience


async def create(hub: Hub, kind: Kind, name: str, *, team: str) -> None:
    """Create a run with a label, in the namespace default if it needs one."""
    namespace = "default" if kind.namespaced else ""
    spec = {"placementName": f"placement-of-{name}", "stagedRolloutStrategyName": "s"}
    metadata = {"name": name, "labels": {"team": team}}
    await hub.create(kind, {"metadata": metadata, "spec": spec}, namespace=namespace)


@pytest.fixture
async def both(hub: Hub, unique: str) -> str:
    """The name of a run that exists in both scopes, and the value of its label team."""
    for scope in (CLUSTER_SCOPE, NAMESPACED_SCOPE):
        await create(hub, scope.run, unique, team=unique)
    return unique


async def listed(fleetgate: Fleetgate, name: str, *flags: str) -> list[str]:
    """Return the kinds of the listed runs with this value of the label team."""
    typed = await fleetgate("run", "list", "-o", "name", "-l", f"team={name}", *flags)
    assert typed.code == 0, typed.err
    return [line.partition(".")[0] for line in typed.out.splitlines()]


@pytest.fixture
def in_a_namespace(hub_kubeconfig: Path, tmp_path: Path) -> Path:
    """A kubeconfig whose context sets the namespace default."""
    config = yaml.safe_load(hub_kubeconfig.read_text())
    for each in config["contexts"]:
        each["context"]["namespace"] = "default"
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def test_a_list_shows_the_scopes_that_the_flags_and_the_context_name(
    fleetgate: Fleetgate, both: str, in_a_namespace: Path
) -> None:
    cluster, namespaced = "clusterstagedupdaterun", "stagedupdaterun"
    assert await listed(fleetgate, both) == [cluster]
    assert await listed(fleetgate, both, "-n", "default") == [namespaced]
    assert await listed(fleetgate, both, "-n", "kube-system") == []
    assert await listed(fleetgate, both, "-A") == [cluster, namespaced]
    there = ("--kubeconfig", str(in_a_namespace))
    assert await listed(fleetgate, both, *there) == [cluster, namespaced]
    assert await listed(fleetgate, both, *there, "-n", "kube-system") == []
    typed = await fleetgate("run", "list", "-A", "-n", "default")
    assert typed.code == 2
    assert "either -n or -A" in typed.err


async def test_flags_may_stand_before_the_command(fleetgate: Fleetgate, both: str) -> None:
    for words in (["-n", "default", "run", "show"], ["run", "-n", "default", "show"]):
        typed = await fleetgate(*words, both, "-o", "name")
        assert typed.out == f"stagedupdaterun.placement.kubernetes-fleet.io/{both}\n", typed.err
    nearest = await fleetgate("-n", "kube-system", "run", "show", both, "-n", "default")
    assert nearest.code == 0, nearest.err


async def test_a_list_in_a_pipe_is_complete_and_can_be_without_headings(
    fleetgate: Fleetgate, hub: Hub, unique: str
) -> None:
    name = f"{unique}-{'n' * 63}"[:63]
    await create(hub, CLUSTER_SCOPE.run, name, team=unique)
    typed = await fleetgate("run", "list", "-l", f"team={unique}", "--no-headers")
    assert typed.out.split()[:2] == [name, f"placement-of-{name}"]
    assert typed.out.endswith("waiting to be planned by a worker\n")
    columns = "custom-columns=NAME:.metadata.name,PLACEMENT:.spec.placementName"
    typed = await fleetgate("run", "list", "-l", f"team={unique}", "-o", columns)
    assert [line.split() for line in typed.out.splitlines()] == [
        ["NAME", "PLACEMENT"],
        [name, f"placement-of-{name}"],
    ]
    path = "jsonpath={.items[*].metadata.name}"
    typed = await fleetgate("run", "list", "-l", f"team={unique}", "-o", path)
    assert typed.out == name


async def test_a_watched_list_continues_with_what_changes_after_it(hub: Hub, both: str) -> None:
    wanted = [Source(scope.run) for scope in (CLUSTER_SCOPE, NAMESPACED_SCOPE)]
    labels = f"team={both}"
    found = await listing.read(hub, wanted, labels=labels)
    assert len(found) == len(wanted)
    changes = listing.changes(hub, wanted, labels=labels, listed=found)
    async with aclosing(changes), asyncio.timeout(patience()):
        # Before it begins to watch, and while it does.
        await hub.delete(NAMESPACED_SCOPE.run, both, namespace="default")
        assert (await anext(changes))["kind"] == NAMESPACED_SCOPE.run.kind
        await create(hub, CLUSTER_SCOPE.run, f"{both}-later", team=both)
        assert (await anext(changes))["metadata"]["name"] == f"{both}-later"


async def test_commands_can_impersonate(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("run", "list", "--as", "jane")
    assert typed.code == 1
    assert 'User "jane" cannot list' in typed.err
    admin = await fleetgate("--as", "jane", "--as-group", "system:masters", "run", "list")
    assert admin.code == 0, admin.err
    alone = await fleetgate("run", "list", "--as-group", "system:masters")
    assert alone.code == 2
    assert "add --as USER" in alone.err


async def test_a_dry_run_creates_nothing_and_its_manifest_can_be_created(
    fleetgate: Fleetgate, hub: Hub, unique: str, tmp_path: Path
) -> None:
    options = ("--placement", "p", "--strategy", "s")
    drafted = await fleetgate(
        *("run", "create", unique, *options, "-n", "default", "--dry-run", "client", "-o", "yaml")
    )
    file = tmp_path / "run.yaml"
    file.write_text(drafted.out)
    checked = await fleetgate("run", "create", "-f", str(file), "--dry-run", "server")
    assert checked.out.endswith(f"/{unique} created (server dry run)\n"), checked.err
    kind = NAMESPACED_SCOPE.run
    assert await hub.find(kind, unique, namespace="default") is None
    created = await fleetgate("run", "create", "-f", str(file))
    assert created.code == 0, created.err
    assert await hub.find(kind, unique, namespace="default")
    both = await fleetgate("run", "create", unique, "-f", str(file))
    assert both.code == 2
