"""Finding the overrides that apply to a snapshot on each cluster (contract: update-runs 7.8)."""

from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.requests import FindSnapshot
from activities.snapshots import SnapshotActivities
from api.kinds import CONFIG_MAP, NAMESPACE
from hub import Hub, kubeconfig
from hub.requests import ApiRequest
from planning.placements.selecting import SelectionRules
from tests.activities.content import Content
from tests.support.hand_overrides import (
    EVERYWHERE,
    OVERRIDES_OF_ALL,
    HandOverrides,
    by_labels,
    by_name,
    selector,
)
from tests.support.interrupted import Interrupted
from tests.support.limits import PATIENT

pytestmark = OVERRIDES_OF_ALL

VALID = "cannot continue the updateRun: failed to validate the updateRun: "


async def found(snapshots: SnapshotActivities, request: FindSnapshot) -> dict[str, list[str]]:
    """Return the names of the override snapshots, by the last letter of the cluster."""
    facts = await snapshots.find_snapshot(request)
    return {
        each.cluster[-1]: [
            *each.cluster_resource,
            *(f"{one.namespace}/{one.name}" for one in each.resource),
        ]
        for each in facts.overrides
    }


async def refusal(snapshots: SnapshotActivities, request: FindSnapshot) -> str:
    with pytest.raises(ApplicationError) as caught:
        await snapshots.find_snapshot(request)
    assert caught.value.type == "InitializationError"
    assert caught.value.non_retryable
    return caught.value.message


async def test_overrides_of_both_kinds_are_found_for_each_cluster(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    name = content.name
    await content.master(0, content.config_map("web"))
    namespace, config_map = selector("Namespace", name), selector("ConfigMap", "web")
    await overrides.cluster(f"{name}-z", namespace, by_labels(env="prod"))
    await overrides.cluster(f"{name}-y", namespace, EVERYWHERE)
    await overrides.namespaced("ro", name, config_map, by_name(f"{name}-b"))
    assert await found(snapshots, content.request("0")) == {
        "a": [f"{name}-y-0", f"{name}-z-0"],
        "b": [f"{name}-y-0", f"{name}/ro-0"],
    }
    # Only for the clusters that the run updates.
    assert await found(snapshots, content.request("0", clusters="a")) == {
        "a": [f"{name}-y-0", f"{name}-z-0"],
    }


async def test_an_override_for_a_placement_matches_its_full_key(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    name = content.name
    await content.master(0, content.config_map("web"))
    config_map = selector("ConfigMap", "web")
    for scope in ("Cluster", "Namespaced"):
        placement = {"name": name, "scope": scope}
        await overrides.namespaced(scope.lower(), name, config_map, EVERYWHERE, placement=placement)
    await overrides.namespaced("other", name, config_map, EVERYWHERE, placement={"name": "other"})
    await overrides.cluster(
        f"{name}-cro", selector("Namespace", name), EVERYWHERE, placement={"name": name}
    )
    wanted = [f"{name}/namespaced-0"] if content.home else [f"{name}-cro-0", f"{name}/cluster-0"]
    assert await found(snapshots, content.request("0")) == {"a": wanted, "b": wanted}


async def test_only_the_latest_snapshot_of_an_override_counts(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    name = content.name
    await content.master(0, content.config_map("web"))
    config_map = selector("ConfigMap", "web")
    old = await overrides.namespaced("ro", name, config_map, EVERYWHERE)
    await overrides.retire(old)
    await overrides.namespaced("ro", name, config_map, by_labels(env="dev"), index=1)
    assert await found(snapshots, content.request("0")) == {"b": [f"{name}/ro-1"]}


async def test_objects_in_all_parts_of_a_snapshot_are_considered(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    name = content.name
    await content.master(0, content.config_map("first"), size=3)
    await content.part(0, 0, content.config_map("second"))
    await content.part(0, 1, content.config_map("third"))
    await content.master(1, content.config_map("elsewhere"))
    for each in ("first", "third", "elsewhere"):
        await overrides.namespaced(each, name, selector("ConfigMap", each), EVERYWHERE)
    wanted = [f"{name}/first-0", f"{name}/third-0"]
    assert await found(snapshots, content.request("0")) == {"a": wanted, "b": wanted}


async def test_objects_inside_envelopes_are_considered(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    name = content.name
    envelope = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceEnvelope",
        "metadata": {"name": "box", "namespace": name},
        "data": {"quota.yaml": content.config_map("inside")},
    }
    await content.master(0, envelope)
    await overrides.namespaced("ro", name, selector("ConfigMap", "inside"), by_labels(env="prod"))
    assert await found(snapshots, content.request("0")) == {"a": [f"{name}/ro-0"]}


async def test_a_part_that_is_still_being_written_is_waited_for(
    hub_kubeconfig: Path, content: Content, overrides: HandOverrides
) -> None:
    name = content.name
    await content.master(0, size=2)
    await overrides.namespaced("ro", name, selector("ConfigMap", "late"), by_labels(env="prod"))
    access = await kubeconfig.load(hub_kubeconfig)
    transport = Interrupted(access, limits=PATIENT, user_agent="test")
    looks = 0

    async def write_the_part(request: ApiRequest) -> None:
        nonlocal looks
        if request.resource == content.scope.resource_snapshot.plural:
            looks += 1
            if looks == 1:
                await content.part(0, 0, content.config_map("late"))

    transport.after_first_page = write_the_part
    async with Hub(transport, manager="test", limits=PATIENT) as hub:
        facts = await found(SnapshotActivities(hub, rules=SelectionRules()), content.request("0"))
    assert facts == {"a": [f"{name}/ro-0"]}
    assert looks == 2


async def test_a_part_that_stays_missing_fails_the_initialization(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    await content.master(0, size=2)
    await overrides.cluster(f"{content.name}-cro", selector("Namespace", content.name), EVERYWHERE)
    text = await refusal(snapshots, content.request("0"))
    assert text.startswith(f"{VALID}not all resource snapshot in the same index group are created")


async def test_an_invalid_cluster_selector_fails_the_initialization(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    await content.master(0, content.config_map("web"))
    wrong: dict[str, Any] = {"matchExpressions": [{"key": "env", "operator": "Like"}]}
    await overrides.namespaced(
        "ro",
        content.name,
        selector("ConfigMap", "web"),
        {"clusterSelectorTerms": [{"labelSelector": wrong}]},
    )
    text = await refusal(snapshots, content.request("0"))
    assert text.startswith(f"{VALID}unexpected behavior which cannot be handled by the controller")
    assert f"of ResourceOverrideSnapshot `{content.name}/ro-0`" in text
    # An invalid override that selects nothing of the placement does no harm.
    await content.master(1, content.config_map("other"))
    assert await found(snapshots, content.request("1")) == {}


async def test_a_cluster_that_has_just_left_fails_the_initialization(
    content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    await content.master(0, content.config_map("web"))
    await overrides.namespaced("ro", content.name, selector("ConfigMap", "web"), EVERYWHERE)
    assert await refusal(snapshots, content.request("0", clusters="ax")) == (
        f'{VALID}MemberCluster.cluster.kubernetes-fleet.io "{content.name}-x" not found'
    )


async def test_a_run_without_an_index_gets_the_overrides_of_the_current_content(
    hub: Hub, content: Content, snapshots: SnapshotActivities, overrides: HandOverrides
) -> None:
    name = content.name
    metadata = {"name": "web", "namespace": name}
    await hub.create(CONFIG_MAP, {"metadata": metadata, "data": {"key": "content of the map"}})
    kind = CONFIG_MAP if content.home else NAMESPACE
    select = selector(kind.kind, "web" if content.home else name)
    placed = {"name": name} | ({"namespace": content.home} if content.home else {})
    spec = {"resourceSelectors": [select], "strategy": {"type": "External"}}
    await hub.create(content.scope.placement, {"metadata": placed, "spec": spec})
    await overrides.namespaced("ro", name, selector("ConfigMap", "web"), by_labels(env="prod"))

    facts = await snapshots.find_snapshot(content.request())

    assert facts.index == "0"
    assert facts.name == f"{name}-0-snapshot"
    assert [each.cluster for each in facts.overrides] == [f"{name}-a"]
    assert "content of the map" not in facts.model_dump_json()
