"""A run fixes each cluster's overrides when it is initialized (contract: update-runs 7.8, 8.4)."""

from collections.abc import AsyncIterator

import pytest

from api.kinds import NAMESPACE
from hub import Hub, Json
from tests.support.eventually import eventually
from tests.support.hand_overrides import (
    EVERYWHERE,
    OVERRIDES_OF_ALL,
    HandOverrides,
    by_labels,
    selector,
)
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started

pytestmark = [pytest.mark.usefixtures("engine"), *OVERRIDES_OF_ALL]

CONFIG_MAP = selector("ConfigMap", "web")


@pytest.fixture
async def overrides(hub: Hub) -> AsyncIterator[HandOverrides]:
    """Override snapshots written by hand, which are deleted after the test."""
    hand = HandOverrides(hub)
    yield hand
    await hand.clear()


@pytest.fixture
async def clusters(placement: HandPlacement, unique: str) -> list[str]:
    """Three clusters of a placement with one ConfigMap, to be updated one after the other."""
    found = [f"{unique}-{each}" for each in "abc"]
    await placement.create({each: {"env": unique} for each in found})
    await placement.hub.apply(NAMESPACE, {"metadata": {"name": unique}})
    metadata = {"name": "web", "namespace": unique}
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    await placement.hub.patch(
        placement.scope.resource_snapshot,
        f"{placement.name}-0-snapshot",
        {"spec": {"selectedResources": [content]}},
        namespace=placement.namespace,
    )
    stage = {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [stage])
    return found


def recorded(body: Json) -> tuple[list[str], list[Json]]:
    """Return the overrides in a binding's spec, or of a cluster in a run's status."""
    return (
        body.get("clusterResourceOverrideSnapshots", []),
        body.get("resourceOverrideSnapshots", []),
    )


def of_clusters(run: Json) -> dict[str, tuple[list[str], list[Json]]]:
    """Return the overrides recorded in a run's status, by cluster."""
    stages = run["status"]["stagesStatus"]
    return {
        cluster["clusterName"]: recorded(cluster)
        for stage in stages
        for cluster in stage["clusters"]
    }


async def test_an_override_that_changes_later_applies_to_the_next_run(
    placement: HandPlacement, clusters: list[str], overrides: HandOverrides, unique: str
) -> None:
    old = await overrides.namespaced("ro", unique, CONFIG_MAP, by_labels(env=unique))
    await placement.create_run(unique, unique, index="0")
    await started(placement, clusters[0])

    await overrides.retire(old)
    new = await overrides.namespaced("ro", unique, CONFIG_MAP, by_labels(env=unique), index=1)
    await overrides.cluster(unique, selector("Namespace", unique), EVERYWHERE)
    for cluster in clusters:
        binding = await started(placement, cluster)
        assert recorded(binding["spec"]) == ([], [{"name": old, "namespace": unique}])
        await placement.report(cluster)

    run = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    as_planned: tuple[list[str], list[Json]] = ([], [{"name": old, "namespace": unique}])
    assert of_clusters(run) == dict.fromkeys(clusters, as_planned)
    await placement.create_run(f"{unique}-next", unique, index="0")
    changed = ([f"{unique}-0"], [{"name": new, "namespace": unique}])
    binding = await eventually(
        lambda: placement.read_binding(clusters[0]), lambda seen: recorded(seen["spec"]) == changed
    )
    assert binding["spec"]["resourceSnapshotName"] == f"{unique}-0-snapshot"
    following = await placement.read_run(f"{unique}-next")
    assert of_clusters(following) == dict.fromkeys(clusters, changed)
