"""The built-in placement stops and starts again, also with other settings.

Whatever has changed while it was stopped is handled when it is back.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from api import names
from api.kinds import (
    CLUSTER_SCOPE,
    CONFIG_MAP,
    MEMBER_CLUSTER,
    NAMESPACE,
    NAMESPACED_SCOPE,
    Kind,
    Scope,
    ScopeName,
)
from hub import Hub, Json
from placement.built_in import BuiltInPlacement
from placement.content_watches import ContentWatches, Subject
from placement.contents import Contents
from placement.selection import Read, ReadRecord
from placement.settings import PlacementSettings
from placement.stores import ScopeStores
from planning.placements.selecting import SelectionRules
from tests.placement.conftest import SETTINGS
from tests.placement.world import World
from tests.support.eventually import eventually, patience
from tests.support.limits import PATIENT
from tests.support.running import running
from tests.support.servers import Servers

HOUR = timedelta(hours=1)
CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", namespaced=True)

pytestmark = pytest.mark.alone("the placement stops and starts on one hub")


@contextlib.asynccontextmanager
async def at_work(kubeconfig: Path, settings: PlacementSettings = SETTINGS) -> AsyncIterator[Hub]:
    """Run the built-in placement for the duration of a block, with its own client."""
    async with (
        await Hub.connect(kubeconfig, limits=PATIENT) as hub,
        running(BuiltInPlacement(hub, settings=settings)),
    ):
        yield hub


@pytest.fixture
async def kubeconfig(servers: Servers) -> Path:
    """Return the kubeconfig of a hub on which the built-in placement does not always run."""
    return await servers.cluster("placement-away")


@pytest.fixture
async def away(kubeconfig: Path) -> AsyncIterator[Hub]:
    """Connect to that hub."""
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        yield hub


async def test_a_restarted_placement_catches_up(
    kubeconfig: Path, away: Hub, unique: str, scope: Scope
) -> None:
    world = World(away, scope, unique)
    await world.prepare()
    async with at_work(kubeconfig):
        stays, leaves = await world.join("stays"), await world.join("leaves")
        await world.place()
        await world.snapshot(0)
        await asyncio.gather(world.binding(stays), world.binding(leaves))

    await world.content("value2")
    await world.roll_out(stays)
    await world.hub.delete(MEMBER_CLUSTER, leaves)
    joins = await world.join("joins")

    async with at_work(kubeconfig):
        await world.snapshot(1)
        await world.binding(joins)
        await eventually(lambda: world.work(stays))
        await eventually(lambda: _given_up(world, leaves))
        await world.report(stays)
        await world.bound(stays, "Available", status="True")
        await _end(world)


async def test_nothing_is_written_when_nothing_has_changed(
    kubeconfig: Path, away: Hub, unique: str
) -> None:
    world = World(away, CLUSTER_SCOPE, unique)
    await world.prepare()
    async with at_work(kubeconfig) as room:
        member = await world.join("a")
        await world.place()
        await world.snapshot(0)
        await world.roll_out(member)
        await world.report(member)
        await world.told("Available", status="True")
        await _quiet(room, world)
    before = await _everything(world)

    async with at_work(kubeconfig) as room:
        await _quiet(room, world)
        assert await _everything(world) == before
        await _end(world)


async def test_a_leaving_member_is_waited_for_but_not_forever(
    kubeconfig: Path, away: Hub, unique: str
) -> None:
    world = World(away, CLUSTER_SCOPE, unique)
    await world.prepare()
    async with at_work(kubeconfig):
        silent, other = await world.known("silent"), await world.known("other")
        for each in (silent, other):
            await eventually(partial(_namespace, world, each))
            await away.delete(MEMBER_CLUSTER, each)
        await world.beat(other, Joined="False")
        await eventually(lambda: _has_left(world, other))
        # The agent of this one never reports that it has left.
        assert not await _has_left(world, silent)
        assert "deletionTimestamp" not in (await _namespace(world, silent) or {})["metadata"]

    async with at_work(kubeconfig, replace(SETTINGS, leave_patience=timedelta(0))):
        await eventually(lambda: _has_left(world, silent))
        assert await _namespace(world, silent) is None
        await _end(world)


async def test_a_fast_member_costs_one_status_write(
    kubeconfig: Path, away: Hub, unique: str, scope: Scope
) -> None:
    world = World(away, scope, unique)
    await world.prepare()
    patient = replace(SETTINGS, report_grace=timedelta(minutes=1))
    async with at_work(kubeconfig, patient) as room:
        member = await world.join("a")
        await world.place()
        await world.snapshot(0)
        await world.roll_out(member)
        before = room.requests["apply", f"{world.scope.binding.plural}/status"]

        await world.report(member)
        body = await world.bound(member, "Available", status="True")

        kinds = [each["type"] for each in body["status"]["conditions"]]
        assert kinds == ["RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available"]
        assert [each["reason"] for each in body["status"]["conditions"][1:]] == [
            "NoOverrideSpecified",
            "AllWorkSynced",
            "AllWorkHaveBeenApplied",
            "AllWorkAreAvailable",
        ]
        after = room.requests["apply", f"{world.scope.binding.plural}/status"]
        assert after - before == 1
        await _end(world)


async def _namespace(world: World, member: str) -> Json | None:
    return await world.hub.find(NAMESPACE, names.member_namespace(member))


async def _has_left(world: World, member: str) -> bool:
    return await world.hub.find(MEMBER_CLUSTER, member) is None


async def _end(world: World) -> None:
    """Clean up completely: scheduling in the next test would see leftover members leave."""
    await world.clear()
    await eventually(lambda: _without_members(world))


async def _without_members(world: World) -> bool:
    listed = await world.hub.list(MEMBER_CLUSTER, labels=f"test={world.unique}")
    return not listed.items


async def _everything(world: World) -> list[object]:
    versions = [await world.placement(), *await world.policies(), *await world.snapshots()]
    versions += [*await world.bindings(), *await world.works()]
    return [each["metadata"]["resourceVersion"] for each in versions if each]


async def _quiet(room: Hub, world: World) -> None:
    """Wait until the placement makes no requests for ten checks in a row."""
    asked, looks = -1, 0
    async with asyncio.timeout(patience()):
        while looks < 10:
            await asyncio.sleep(0.1)
            await world.placement()  # A stalled hub must not look like a quiet placement.
            total = room.requests.total()
            looks = looks + 1 if asked == total == _answered(room) else 0
            asked = total


def _answered(room: Hub) -> int:
    return sum(sum(each.counts) for each in room.answers.durations.values())


async def store_first_change(world: World) -> None:
    """Place something and change it: from then on the interval applies."""
    await world.place()
    await world.snapshot(0)
    await world.content("value2")
    await world.snapshot(1)


async def _given_up(world: World, member: str) -> bool:
    return bool((await world.binding(member))["spec"]["state"] == "Unscheduled")


async def test_changes_within_the_interval_are_stored_together_at_the_latest_after_a_restart(
    kubeconfig: Path, away: Hub, unique: str, scope: Scope
) -> None:
    world, settings = World(away, scope, unique), replace(SETTINGS, snapshot_interval=HOUR)
    await world.prepare()
    async with at_work(kubeconfig, settings):
        await store_first_change(world)
        for number in (3, 4):
            await world.content(f"value{number}")
            # Without the interval, this is enough time to store each change separately.
            other = World(away, scope, unique)
            other.name = f"{world.name}-{number}"
            await other.place()
            await other.snapshot(0)
            await other.told("Scheduled", status="True")
            await other.clear()

    async with at_work(kubeconfig, settings):
        assert value_of(await world.snapshot(2)) == "value4"
        assert len(await world.snapshots()) == 3
        await world.clear()


async def test_a_change_of_the_placement_itself_does_not_wait_for_the_interval(
    kubeconfig: Path, away: Hub, unique: str
) -> None:
    world = World(away, CLUSTER_SCOPE, unique)
    await world.prepare()
    async with at_work(kubeconfig, replace(SETTINGS, snapshot_interval=HOUR)):
        await store_first_change(world)
        await world.content("value3")

        await world.change(revisionHistoryLimit=9)
        assert value_of(await world.snapshot(2)) == "value3"

        # Neither does replacing a deleted snapshot.
        name = (await world.snapshot(2))["metadata"]["name"]
        await away.delete(world.scope.resource_snapshot, name)
        await world.snapshot(2)
        await world.clear()


async def test_the_last_change_is_stored_when_the_interval_ends(
    kubeconfig: Path, away: Hub, unique: str
) -> None:
    world = World(away, CLUSTER_SCOPE, unique)
    await world.prepare()
    async with at_work(kubeconfig, replace(SETTINGS, snapshot_interval=timedelta(seconds=2))):
        await world.place()
        await world.snapshot(0)
        for number in range(2, 9):
            await world.content(f"value{number}")

        async def newest() -> str:
            return value_of((await world.snapshots())[-1])

        await eventually(newest, lambda found: found == "value8")
        await world.clear()


def value_of(snapshot: Json) -> str:
    """Return the value in the ConfigMap of a snapshot."""
    found = [each for each in snapshot["spec"]["selectedResources"] if "data" in each]
    return str(found[0]["data"]["key"])


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        (SelectionRules(), ["Namespace", "PersistentVolumeClaim"]),
        (SelectionRules(hub_runs_workloads=True), ["Namespace"]),
    ],
)
async def test_volume_claims_of_a_hub_that_runs_workloads_are_not_placed(
    kubeconfig: Path, away: Hub, unique: str, rules: SelectionRules, wanted: list[str]
) -> None:
    world = World(away, CLUSTER_SCOPE, unique)
    await world.prepare()
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "namespace": unique}
    await away.create(CLAIM, {"metadata": metadata, "spec": claim})
    await away.delete(CONFIG_MAP, "cm", namespace=unique)
    async with at_work(kubeconfig, replace(SETTINGS, rules=rules)):
        await world.place()
        selected = (await world.snapshot(0))["spec"]["selectedResources"]
        assert [each["kind"] for each in selected] == wanted
        await world.clear()


async def test_a_namespace_that_the_operator_skips_is_not_placed(
    kubeconfig: Path, away: Hub, unique: str
) -> None:
    world = World(away, CLUSTER_SCOPE, unique)
    await world.prepare()
    rules = SelectionRules(skipped_namespaces=frozenset({unique}))
    async with at_work(kubeconfig, replace(SETTINGS, rules=rules)):
        await world.place()
        said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")
        assert said["message"].endswith(f"namespace {unique} is not allowed to propagate")
        await world.clear()


async def test_a_placement_older_than_the_watches_is_selected_without_listing(
    away: Hub, unique: str
) -> None:
    world = World(away, NAMESPACED_SCOPE, unique)
    await world.prepare()
    await world.place()
    watches = ContentWatches(away, lambda _: None)
    # Only now, so that the watch starts with everything older than the placement.
    sight, configs = ReadRecord(), Read(CONFIG_MAP, unique)
    sight.note(configs, (await away.list(CONFIG_MAP, namespace=unique)).items)
    watches.want((ScopeName.CLUSTER, ("", "other")), sight)
    one: Subject = (ScopeName.NAMESPACED, (unique, world.name))
    await eventually(lambda: watches.objects(one, configs) is not None)
    stores, judged = ScopeStores(away, NAMESPACED_SCOPE), asyncio.Event()
    contents = Contents(
        away,
        stores,
        watches,
        settings=SETTINGS,
        judged=lambda found: judged.set() if found == one[1] else None,
    )

    def asked() -> int:
        return sum(away.requests[verb, "configmaps"] for verb in ("get", "list"))

    before = asked()
    async with running(stores.placements), running(stores.snapshots):
        looking = asyncio.create_task(contents.controller.run())
        await asyncio.wait_for(judged.wait(), timeout=patience())
        looking.cancel()
    await watches.close()

    assert asked() == before
    await world.snapshot(0)
    await world.clear()
