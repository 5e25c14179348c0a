"""Section 7.8: the overrides of each cluster, fixed when the run is initialized."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from api.kinds import NAMESPACE
from hub import Hub, Json
from tests.conformance.objects import stage, stage_of
from tests.conformance.runs import Run
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.hand_overrides import EVERYWHERE, HandOverrides, by_labels, selector

pytestmark = pytest.mark.both_scopes

MEMBER_NAME = "kubernetes-fleet.io/member-name"


@dataclass(frozen=True, slots=True)
class Overrides:
    """Hand-written override snapshots, in a namespace that the placement selects."""

    world: World
    home: str
    hand: HandOverrides

    async def cluster_wide(
        self, name: str, where: Json, *, about: str = "", placement: Json | None = None
    ) -> str:
        """Create a ClusterResourceOverride's snapshot, by default for the selected namespace."""
        selected = selector("Namespace", about or self.home)
        override = f"{self.world.name}-{name}"
        return await self.hand.cluster(override, selected, where, placement=placement)

    async def namespaced(self, name: str, where: Json, *, placement: Json | None = None) -> str:
        """Create the snapshot of a ResourceOverride of the selected ConfigMap."""
        selected = selector("ConfigMap", self.world.name)
        override = f"{self.world.name}-{name}"
        return await self.hand.namespaced(override, self.home, selected, where, placement=placement)


@pytest.fixture
async def namespace(hub: Hub, unique: str) -> AsyncIterator[str]:
    """A namespace for one test, so that overrides do not affect other tests."""
    name = f"{unique}-home"
    await hub.create(NAMESPACE, {"metadata": {"name": name}})
    yield name
    await hub.delete(NAMESPACE, name)


@pytest.fixture
async def overrides(world: World, namespace: str) -> AsyncIterator[Overrides]:
    """Overrides for a placement of one ConfigMap on a, which is labelled as production, and b."""
    await world.place(
        {"a": {"stage": "one", "env": "prod"}, "b": {"stage": "one"}},
        versions=0,
    )
    content = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": world.name, "namespace": namespace},
    }
    await world.hand.snapshot(0, resources=[content])
    await world.strategy(stage())
    hand = HandOverrides(world.hub)
    yield Overrides(world, namespace, hand)
    await hand.clear()


async def recorded(world: World, run: Run) -> dict[str, list[str]]:
    """The names of the override snapshots in the run's plan, by cluster."""
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    return {
        short: [
            *run.cluster(seen, short).get("clusterResourceOverrideSnapshots", []),
            *(
                f"{each['namespace']}/{each['name']}"
                for each in run.cluster(seen, short).get("resourceOverrideSnapshots", [])
            ),
        ]
        for short in "ab"
    }


async def test_7_8_the_overrides_of_each_cluster_are_recorded_in_order(
    world: World, overrides: Overrides
) -> None:
    second = await overrides.cluster_wide("z", EVERYWHERE)
    first = await overrides.cluster_wide("y", by_labels(env="prod"))
    named = await overrides.namespaced("n", by_labels(**{MEMBER_NAME: world.cluster("b")}))
    run = await Run.create(world, state="Initialize")
    assert await recorded(world, run) == {
        "a": [first, second],
        "b": [second, f"{overrides.home}/{named}"],
    }


async def test_7_8_the_recorded_overrides_are_written_to_the_binding(
    world: World, overrides: Overrides
) -> None:
    wide = await overrides.cluster_wide("w", EVERYWHERE)
    narrow = await overrides.namespaced("n", EVERYWHERE)
    run = await Run.create(world)
    spec = (await world.handed_out("a"))["spec"]
    assert spec["clusterResourceOverrideSnapshots"] == [wide]
    assert spec["resourceOverrideSnapshots"] == [{"name": narrow, "namespace": overrides.home}]
    await world.update("a", "b")
    await run.succeeds()


async def test_7_8_unrelated_overrides_are_left_out(world: World, overrides: Overrides) -> None:
    await overrides.cluster_wide("elsewhere", by_labels(env="nowhere"))
    await overrides.cluster_wide("about", EVERYWHERE, about="another-namespace")
    await overrides.cluster_wide("other", EVERYWHERE, placement={"name": "another"})
    await overrides.hand.retire(await overrides.cluster_wide("old", EVERYWHERE))
    run = await Run.create(world, state="Initialize")
    assert await recorded(world, run) == {"a": [], "b": []}


async def test_7_8_clusters_to_be_deleted_have_no_overrides(
    world: World, overrides: Overrides
) -> None:
    await overrides.cluster_wide("w", EVERYWHERE)
    await world.member("x", {})
    await world.binding("x", state="Unscheduled")
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert stage_of(seen, -1)["clusters"] == [{"clusterName": world.cluster("x")}]


async def test_7_8_later_changes_of_overrides_have_no_effect(
    world: World, overrides: Overrides
) -> None:
    first = await overrides.cluster_wide("w", EVERYWHERE)
    run = await Run.create(world)
    await world.update("a")
    await overrides.hand.retire(first)
    await overrides.cluster_wide("later", EVERYWHERE)
    binding = await world.handed_out("b")
    assert binding["spec"]["clusterResourceOverrideSnapshots"] == [first]
    await world.report("b")
    await run.succeeds()


async def test_decision_11_an_override_of_a_namespaced_placement_matches_by_its_full_key(
    world: World, overrides: Overrides
) -> None:
    placement = {"name": world.name, "scope": "Namespaced"}
    name = await overrides.namespaced("n", EVERYWHERE, placement=placement)
    run = await Run.create(world, state="Initialize")
    matched = [f"{overrides.home}/{name}"] if world.namespace else []
    assert await recorded(world, run) == {"a": matched, "b": matched}
