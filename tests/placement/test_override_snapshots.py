"""Overrides become snapshots, which placements roll out (contract: placement 9, 12)."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from api import names
from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE,
    CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    EVENT,
    RESOURCE_OVERRIDE,
    RESOURCE_OVERRIDE_SNAPSHOT,
    Kind,
)
from hub import NotFound
from tests.placement.overriding import add
from tests.placement.world import World
from tests.support.eventually import eventually

Json = dict[str, Any]
EVERYWHERE: Json = {"clusterSelectorTerms": []}
ROLLING: Json = {"type": "RollingUpdate"}


class Override:
    """An override of the test's content, of one of the two kinds."""

    def __init__(self, world: World, kind: Kind, snapshots: Kind) -> None:
        self._world = world
        self._kind = kind
        self._snapshots = snapshots
        self.name = f"{world.unique}-o"
        self.home = world.unique if kind.namespaced else ""

    async def write(self, *patches: Json, **spec: Any) -> None:
        """Write the override with these patches, for all clusters."""
        rule = {"clusterSelector": EVERYWHERE, "jsonPatchOverrides": list(patches)}
        selector: Json = {"group": "", "version": "v1"}
        if self.home:
            selectors = {"resourceSelectors": [selector | {"kind": "ConfigMap", "name": "cm"}]}
        else:
            own = {"kind": "Namespace", "name": self._world.unique}
            selectors = {"clusterResourceSelectors": [selector | own]}
        metadata = {"name": self.name} | ({"namespace": self.home} if self.home else {})
        whole = selectors | {"policy": {"overrideRules": [rule]}} | spec
        await self._world.hub.apply(
            self._kind, {"metadata": metadata, "spec": whole}, manager="kubectl"
        )

    async def delete(self) -> None:
        try:
            await self._world.hub.delete(self._kind, self.name, namespace=self.home)
        except NotFound:
            return

    async def unmark(self) -> None:
        """Remove the latest mark by hand."""
        newest = (await self.snapshots())[-1]["metadata"]["name"]
        patch = {"metadata": {"labels": {names.IS_LATEST_SNAPSHOT: "false"}}}
        await self._world.hub.patch(self._snapshots, newest, patch, namespace=self.home)

    async def snapshots(self) -> list[Json]:
        """Return the snapshots, oldest first."""
        labels = f"{names.PARENT_RESOURCE_OVERRIDE}={self.name}"
        found = await self._world.hub.list(self._snapshots, namespace=self.home, labels=labels)
        return sorted(found.items, key=_index)

    async def body(self) -> Json | None:
        return await self._world.hub.find(self._kind, self.name, namespace=self.home)

    def named(self, index: int) -> Json:
        """Return the part of a binding's spec that names a snapshot."""
        name = f"{self.name}-{index}"
        if self.home:
            return {"resourceOverrideSnapshots": [{"name": name, "namespace": self.home}]}
        return {"clusterResourceOverrideSnapshots": [name]}

    async def is_gone(self) -> bool:
        return await self.body() is None

    async def settled(self, *marks: str) -> list[Json]:
        """Wait until the snapshots have exactly these latest marks."""

        async def look() -> list[Json] | None:
            found = await self.snapshots()
            said = [each["metadata"]["labels"][names.IS_LATEST_SNAPSHOT] for each in found]
            return found if said == list(marks) else None

        return await eventually(look)

    async def warned(self) -> str:
        """Wait for the event that says what is wrong; return its message."""

        async def look() -> list[Json]:
            fields = f"involvedObject.name={self.name},reason=InvalidOverride"
            return (await self._world.hub.list(EVENT, fields=fields)).items

        (event,) = await eventually(look)
        assert event["type"] == "Warning"
        return str(event["message"])


def _index(snapshot: Json) -> int:
    return int(snapshot["metadata"]["labels"][names.OVERRIDE_INDEX])


KINDS = {
    "cro": (CLUSTER_RESOURCE_OVERRIDE, CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT),
    "ro": (RESOURCE_OVERRIDE, RESOURCE_OVERRIDE_SNAPSHOT),
}


@pytest.fixture(params=list(KINDS))
async def override(request: pytest.FixtureRequest, world: World) -> AsyncIterator[Override]:
    written = Override(world, *KINDS[request.param])
    yield written
    await written.delete()


async def _value(world: World, member: str, value: str) -> bool:
    work = await world.work(member)
    manifests = work["spec"]["workload"]["manifests"] if work else []
    found = [each for each in manifests if each["kind"] == "ConfigMap"]
    return any(each["metadata"].get("labels") == {"tier": value} for each in found)


def label(value: str) -> Json:
    """Return a patch that works for both Namespaces and ConfigMaps."""
    return add("/metadata/labels", {"tier": value})


async def test_an_override_gets_a_snapshot_and_a_finalizer(override: Override) -> None:
    await override.write(label("1"))

    (snapshot,) = await override.settled("true")

    body = await override.body()
    assert body is not None
    assert body["metadata"]["finalizers"] == ["kubernetes-fleet.io/override-cleanup"]
    metadata = snapshot["metadata"]
    assert metadata["name"] == f"{override.name}-0"
    assert metadata["labels"] == {
        "kubernetes-fleet.io/parent-resource-override": override.name,
        "kubernetes-fleet.io/is-latest-snapshot": "true",
        "kubernetes-fleet.io/override-index": "0",
    }
    assert metadata["ownerReferences"][0]["uid"] == body["metadata"]["uid"]
    assert snapshot["spec"]["overrideSpec"] == body["spec"]
    assert len(base64.b64decode(snapshot["spec"]["overrideHash"])) == 64


async def test_each_change_gets_a_snapshot_and_about_ten_are_kept(override: Override) -> None:
    for number in range(12):
        await override.write(label(str(number)))
        await eventually(lambda: _has(override, number))  # noqa: B023
    kept = await override.settled(*["false"] * 9, "true")
    assert [_index(each) for each in kept] == list(range(2, 12))


async def _has(override: Override, index: int) -> bool:
    return index in map(_index, await override.snapshots())


async def test_a_snapshot_that_a_binding_names_is_kept(world: World, override: Override) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    await override.write(label("0"))
    await override.settled("true")
    await world.roll_out(member, **override.named(0))
    await world.bound(member, "Overridden", status="True")

    for number in range(1, 13):
        await override.write(label(str(number)))
        await eventually(lambda: _has(override, number))  # noqa: B023

    kept = await override.settled(*["false"] * 10, "true")
    assert [_index(each) for each in kept] == [0, *range(3, 13)]


async def test_a_deleted_override_takes_its_snapshots_with_it(override: Override) -> None:
    await override.write(label("1"))
    await override.settled("true")

    await override.delete()

    await eventually(override.is_gone)
    assert await override.snapshots() == []


async def test_an_invalid_override_is_ignored(override: Override) -> None:
    await override.write(add("/kind", "Secret"))
    assert await override.warned() == (
        "ignored: spec.policy.overrideRules[0].jsonPatchOverrides[0] (add /kind): "
        "cannot override typeMeta fields. Fix it; until then it changes nothing"
    )
    assert await override.snapshots() == []

    await override.write(label("1"))
    await override.settled("true")


async def test_the_last_valid_snapshot_stays_in_force(override: Override) -> None:
    await override.write(label("1"))
    await override.settled("true")

    await override.write(add("/status/phase", "x"))

    assert (await override.warned()).endswith(f"until then {override.name}-0 stays in force")
    await override.settled("true")


async def test_a_latest_mark_removed_by_hand_is_set_again(override: Override) -> None:
    await override.write(label("1"))
    await override.settled("true")

    await override.unmark()

    await override.settled("true")


async def rolled_out(world: World, override: Override) -> str:
    """Roll out a placement with the override by rolling update; return the member's name."""
    member = await world.join("a")
    await override.write(label("1"))
    await override.settled("true")
    await world.place(strategy=ROLLING)
    await eventually(lambda: _value(world, member, "1"))
    await world.report(member)
    await world.bound(member, "Available", status="True")
    return member


async def test_a_rolling_update_applies_an_override_at_once(
    world: World, override: Override
) -> None:
    member = await rolled_out(world, override)

    await override.write(label("2"))

    await eventually(lambda: _value(world, member, "2"))
    assert await _applied(world, member) == [f"{override.name}-1"]


async def test_an_override_that_names_a_placement_applies_only_to_that_one(
    world: World, override: Override
) -> None:
    member = await world.join("a")
    # A ClusterResourceOverride cannot name a ResourcePlacement: this one names a namesake.
    scope = "Namespaced" if world.home and override.home else "Cluster"
    await override.write(label("1"), placement={"name": world.name, "scope": scope})
    await override.settled("true")

    await world.place(strategy=ROLLING)

    await eventually(lambda: world.work(member))
    meant = not world.home or scope == "Namespaced"
    assert await _value(world, member, "1") is meant
    assert await _applied(world, member) == ([f"{override.name}-0"] if meant else [])


async def _applied(world: World, member: str) -> list[str]:
    """Return the names of the override snapshots in the member's binding."""
    spec = (await world.binding(member))["spec"]
    resource = spec.get("resourceOverrideSnapshots", [])
    return [
        *spec.get("clusterResourceOverrideSnapshots", []),
        *(each["name"] for each in resource),
    ]


async def test_an_external_placement_waits_for_its_next_run(
    world: World, override: Override
) -> None:
    member = await world.join("a")
    await override.write(label("1"))
    await override.settled("true")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(member)
    await world.report(member)
    before = await world.bound(member, "Available", status="True")

    await override.write(label("2"))
    await override.settled("false", "true")
    await world.join("b")

    after = await world.binding(member)
    assert after["spec"] == before["spec"]


async def test_a_rolling_update_drops_a_deleted_override(world: World, override: Override) -> None:
    member = await rolled_out(world, override)

    await override.delete()

    async def dropped() -> bool:
        return not await _value(world, member, "1")

    await eventually(dropped)
    assert await _applied(world, member) == []


async def test_an_external_placement_keeps_the_changes_of_a_deleted_override(
    world: World, override: Override
) -> None:
    member = await world.join("a")
    await override.write(label("1"))
    await override.settled("true")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(member, **override.named(0))
    await eventually(lambda: _value(world, member, "1"))

    await override.delete()
    await eventually(override.is_gone)
    await world.report(member)

    await world.bound(member, "Overridden", status="True")
    assert await _value(world, member, "1")
