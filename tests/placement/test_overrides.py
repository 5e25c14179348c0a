"""Overrides change Works per cluster (contract: placement 6, 9)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.kinds import MEMBER_CLUSTER
from tests.placement.overriding import Overrides, add
from tests.placement.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually

Json = dict[str, Any]

pytestmark = pytest.mark.both_scopes


@pytest.fixture
async def overrides(world: World) -> AsyncIterator[Overrides]:
    written = Overrides(world)
    yield written
    await written.clear()


async def roll_out(world: World, member: str, overrides: Overrides, *, both: bool = False) -> None:
    await world.snapshot(0)
    lists: Json = {"resourceOverrideSnapshots": [overrides.namespaced]}
    if both:
        lists["clusterResourceOverrideSnapshots"] = [overrides.cluster]
    await world.roll_out(member, **lists)


async def config_map(world: World, member: str) -> Json:
    work = await eventually(lambda: world.work(member))
    manifests = work["spec"]["workload"]["manifests"]
    return next((each for each in manifests if each["kind"] == "ConfigMap"), {})


async def test_a_work_holds_the_overridden_content(world: World, overrides: Overrides) -> None:
    member = await world.join("a", region="eu")
    await world.place()
    await overrides.write_cluster(add("/metadata/annotations", {"by": "cro"}))
    await overrides.write_namespaced(
        add("/metadata/annotations/by", "ro"),
        add("/data/where", "${MEMBER-CLUSTER-LABEL-KEY-region} ${MEMBER-CLUSTER-NAME}"),
        add("/data/nothing", None),
    )

    await roll_out(world, member, overrides, both=True)
    await world.report(member)

    binding = await world.bound(member, "Available", status="True")
    changed = await config_map(world, member)
    assert changed["metadata"]["annotations"] == {"by": "ro"}
    assert changed["data"] == {"key": "value1", "where": f"eu {member}", "nothing": None}
    said = condition_of(binding, "Overridden")
    assert (said["status"], said["reason"]) == ("True", "OverriddenSucceeded")
    assert said["message"] == "Successfully applied the override rules on the resources"
    told = await world.told("Overridden", status="True", reason="OverriddenSucceeded")
    assert told["message"] == "The selected resources are successfully overridden in 1 cluster(s)"


async def test_a_deleted_object_is_left_out_of_the_work(world: World, overrides: Overrides) -> None:
    member = await world.join("a")
    await world.place()
    await overrides.write_namespaced()

    await roll_out(world, member, overrides)

    assert await config_map(world, member) == {}


async def test_an_override_that_cannot_be_applied_blocks_the_content(
    world: World, overrides: Overrides
) -> None:
    member = await world.join("a")
    await world.place()
    await overrides.write_namespaced(add("/data/x/y", "v"))

    await roll_out(world, member, overrides)

    binding = await world.bound(member, "Overridden", status="False", reason="OverriddenFailed")
    assert condition_of(binding, "Overridden")["message"] == (
        "Failed to apply the override rules on the resources: ResourceOverrideSnapshot"
        f' "ro-0" failed to apply on ConfigMap "cm" in namespace "{world.unique}": add operation'
        ' does not apply: doc is missing path: "/data/x/y": missing value'
    )
    assert condition_of(binding, "WorkSynchronized") == {}
    assert await world.work(member) is None


async def test_a_missing_override_snapshot_is_named_and_used_once_it_exists(
    world: World, overrides: Overrides
) -> None:
    member = await world.join("a")
    await world.place()
    await roll_out(world, member, overrides, both=True)
    binding = await world.bound(member, "Overridden", status="False")
    said = condition_of(binding, "Overridden")["message"]
    assert said.endswith(f": clusterResourceOverrideSnapshot {overrides.cluster} is not found")

    await overrides.write_cluster(add("/metadata/annotations", {}))
    missing = f"resourceOverrideSnapshot {world.unique}/ro-0 is not found"
    await eventually(lambda: _says(world, member, missing))
    await overrides.write_namespaced(add("/data/key", "overridden"))

    await world.bound(member, "Overridden", status="True")
    assert (await config_map(world, member))["data"] == {"key": "overridden"}


async def test_a_label_that_an_override_needs_may_be_added_later(
    world: World, overrides: Overrides
) -> None:
    member = await world.join("a")
    await world.place()
    await overrides.write_namespaced(add("/data/key", "${MEMBER-CLUSTER-LABEL-KEY-region}"))
    await roll_out(world, member, overrides)
    await eventually(
        lambda: _says(world, member, f"label key region not found on cluster {member}"),
    )

    await world.hub.patch(MEMBER_CLUSTER, member, {"metadata": {"labels": {"region": "eu"}}})

    await world.bound(member, "Overridden", status="True")
    assert (await config_map(world, member))["data"] == {"key": "eu"}


async def _says(world: World, member: str, text: str) -> bool:
    said = condition_of(await world.binding(member), "Overridden").get("message", "")
    return bool(said.endswith(text))
