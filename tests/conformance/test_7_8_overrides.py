"""Section 7.8: the overrides of each cluster, fixed when the run is initialized."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    NAMESPACE,
    RESOURCE_OVERRIDE_SNAPSHOT,
    Kind,
)
from hub import Hub, Json, NotFound
from tests.conformance.objects import LATEST, stage, stage_of
from tests.conformance.runs import Run
from tests.conformance.vocabulary import Says
from tests.conformance.world import World

pytestmark = pytest.mark.both_scopes

EVERYWHERE: Json = {"clusterSelectorTerms": []}
MEMBER_NAME = "kubernetes-fleet.io/member-name"
PARENT_OVERRIDE = "kubernetes-fleet.io/parent-resource-override"
OVERRIDE_INDEX = "kubernetes-fleet.io/override-index"
PATCHES = [{"op": "add", "path": "/metadata/labels/added", "value": "yes"}]


def labelled(**labels: str) -> Json:
    """The clusters with these labels."""
    return {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": labels}}]}


@dataclass(frozen=True, slots=True)
class Overrides:
    """Override snapshots written by hand, in a namespace that the placement selects."""

    world: World
    home: str
    written: list[tuple[Kind, str, str]] = field(default_factory=list)

    async def cluster_wide(self, name: str, where: Json, *, about: str = "", **spec: Json) -> str:
        """A ClusterResourceOverride's snapshot; by default about the selected namespace."""
        selected = {"group": "", "version": "v1", "kind": "Namespace", "name": about or self.home}
        spec = {"clusterResourceSelectors": [selected], **spec}  # type: ignore[dict-item]
        return await self._write(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, name, "", spec, where)

    async def namespaced(self, name: str, where: Json, **spec: Json) -> str:
        """A ResourceOverride's snapshot, about the ConfigMap that is selected."""
        selected = {"group": "", "version": "v1", "kind": "ConfigMap", "name": self.world.name}
        spec = {"resourceSelectors": [selected], **spec}  # type: ignore[dict-item]
        return await self._write(RESOURCE_OVERRIDE_SNAPSHOT, name, self.home, spec, where)

    async def _write(
        self, kind: Kind, name: str, namespace: str, spec: Mapping[str, Json], where: Json
    ) -> str:
        override = f"{self.world.name}-{name}"
        labels = {PARENT_OVERRIDE: override, LATEST: "true", OVERRIDE_INDEX: "0"}
        rules = [{"clusterSelector": where, "jsonPatchOverrides": PATCHES}]
        content = {**spec, "policy": {"overrideRules": rules}}
        body: Json = {
            "metadata": {"name": f"{override}-0", "labels": labels},
            "spec": {"overrideSpec": content, "overrideHash": "aGFzaA=="},
        }
        await self.world.hub.create(kind, body, namespace=namespace)
        self.written.append((kind, namespace, f"{override}-0"))
        return f"{override}-0"

    async def outdate(self, name: str) -> None:
        """Take the latest mark from a snapshot."""
        kind, namespace, _ = next(each for each in self.written if each[2] == name)
        patch = {"metadata": {"labels": {LATEST: "false"}}}
        await self.world.hub.patch(kind, name, patch, namespace=namespace)

    async def clear(self) -> None:
        """Remove everything that was written."""
        for kind, namespace, name in self.written:
            with suppress(NotFound):
                await self.world.hub.delete(kind, name, namespace=namespace)


@pytest.fixture
async def namespace(hub: Hub, unique: str) -> AsyncIterator[str]:
    """A namespace of the test's own, whose overrides are of no other test's content."""
    name = f"{unique}-home"
    await hub.create(NAMESPACE, {"metadata": {"name": name}})
    yield name
    await hub.delete(NAMESPACE, name)


@pytest.fixture
async def overrides(world: World, namespace: str) -> AsyncIterator[Overrides]:
    """Overrides for a placement of one ConfigMap on a, of production, and b."""
    await world.place(
        {"a": {"stage": "one", "env": "prod"}, "b": {"stage": "one"}},
        versions=0,
    )
    content = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": world.name, "namespace": namespace},
    }
    await world.snapshot(0, resources=[content])
    await world.strategy(stage())
    made = Overrides(world, namespace)
    yield made
    await made.clear()


async def recorded(world: World, run: Run) -> dict[str, list[str]]:
    """Names of the override snapshots in the run's plan, by cluster."""
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
    first = await overrides.cluster_wide("y", labelled(env="prod"))
    named = await overrides.namespaced("n", labelled(**{MEMBER_NAME: world.cluster("b")}))
    run = await Run.create(world, state="Initialize")
    assert await recorded(world, run) == {
        "a": [first, second],
        "b": [second, f"{overrides.home}/{named}"],
    }


async def test_7_8_what_is_recorded_is_written_into_the_binding(
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


async def test_7_8_overrides_of_something_else_are_left_out(
    world: World, overrides: Overrides
) -> None:
    await overrides.cluster_wide("elsewhere", labelled(env="nowhere"))
    await overrides.cluster_wide("about", EVERYWHERE, about="another-namespace")
    await overrides.cluster_wide("other", EVERYWHERE, placement={"name": "another"})
    await overrides.outdate(await overrides.cluster_wide("old", EVERYWHERE))
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


async def test_7_8_later_changes_of_overrides_make_no_difference(
    world: World, overrides: Overrides
) -> None:
    first = await overrides.cluster_wide("w", EVERYWHERE)
    run = await Run.create(world)
    await world.update("a")
    await overrides.outdate(first)
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
