"""Placements on a real API server (contract: placement 2)."""

from typing import Any

import pytest

from api.kinds import CLUSTER_RESOURCE_PLACEMENT, RESOURCE_PLACEMENT, Scope
from hub import Hub
from tests.api.conftest import Make
from tests.api.samples import (
    change,
    dry_create,
    namespace_selector,
    placement_spec,
    refusal,
    sample,
)

CRP = CLUSTER_RESOURCE_PLACEMENT
BY_SELECTORS = "NamespaceWithResourceSelectors"
AFFINITY: dict[str, Any] = {"clusterAffinity": {}}
SPREAD = [{"topologyKey": "region"}]
TOLERATIONS = [{"operator": "Exists"}]
PICK_FIXED = (
    "affinity, numberOfClusters, topologySpreadConstraints, and tolerations cannot be set"
    " when placementType is PickFixed"
)
PICK_ALL = (
    "clusterNames, numberOfClusters, and topologySpreadConstraints cannot be set"
    " when placementType is PickAll"
)
PICK_N = "clusterNames cannot be set and numberOfClusters must be set when placementType is PickN"


async def test_a_placement_gets_its_defaults(hub: Hub, scope: Scope) -> None:
    spec = placement_spec(policy={}, strategy={"rollingUpdate": {}, "applyStrategy": {}})
    stored = await dry_create(hub, scope.placement, spec)
    assert stored["spec"] == {
        "resourceSelectors": [namespace_selector(selectionScope="NamespaceWithResources")],
        "policy": {"placementType": "PickAll"},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {
                "maxSurge": "25%",
                "maxUnavailable": "25%",
                "unavailablePeriodSeconds": 60,
            },
            "applyStrategy": {
                "comparisonOption": "PartialComparison",
                "type": "ClientSideApply",
                "whenToApply": "Always",
                "whenToTakeOver": "Always",
            },
        },
        "revisionHistoryLimit": 10,
        "statusReportingScope": "ClusterScopeOnly",
    }


@pytest.mark.parametrize("count", [0, 101])
async def test_there_are_1_to_100_selectors(hub: Hub, scope: Scope, count: int) -> None:
    spec = placement_spec(resourceSelectors=[namespace_selector()] * count)
    text = await refusal(dry_create(hub, scope.placement, spec))
    assert "spec.resourceSelectors" in text


async def test_100_selectors_are_accepted(hub: Hub, scope: Scope) -> None:
    selectors = [namespace_selector(name=f"n{number}") for number in range(100)]
    await dry_create(hub, scope.placement, placement_spec(resourceSelectors=selectors))


BY_NAME = (
    "namespace selector with NamespaceWithResourceSelectors mode must select by name (not by label)"
)
ALONE = (
    "when using NamespaceWithResourceSelectors mode, only one namespace selector is allowed"
    " (cannot mix with other namespace selectors)"
)
SELECTORS: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "name and labelSelector are mutually exclusive in a resource selector",
        [namespace_selector(labelSelector={})],
    ),
    (
        "only one namespace selector with NamespaceWithResourceSelectors mode is allowed",
        [namespace_selector(name=name, selectionScope=BY_SELECTORS) for name in ("a", "b")],
    ),
    (
        BY_NAME,
        [namespace_selector(name="", labelSelector={}, selectionScope=BY_SELECTORS)],
    ),
    (
        ALONE,
        [namespace_selector(name="a", selectionScope=BY_SELECTORS), namespace_selector()],
    ),
]


@pytest.mark.parametrize(("text", "selectors"), SELECTORS)
async def test_contradictory_selectors_are_refused(
    hub: Hub, scope: Scope, text: str, selectors: list[dict[str, Any]]
) -> None:
    spec = placement_spec(resourceSelectors=selectors)
    assert text in await refusal(dry_create(hub, scope.placement, spec))


async def test_a_namespace_may_be_narrowed_by_further_selectors(hub: Hub, scope: Scope) -> None:
    selectors = [
        namespace_selector(selectionScope=BY_SELECTORS),
        {"group": "", "version": "v1", "kind": "ConfigMap", "labelSelector": {}},
    ]
    await dry_create(hub, scope.placement, placement_spec(resourceSelectors=selectors))


POLICIES: list[tuple[str, dict[str, Any]]] = [
    (PICK_FIXED, {"placementType": "PickFixed", "affinity": AFFINITY}),
    (PICK_FIXED, {"placementType": "PickFixed", "numberOfClusters": 1}),
    (PICK_FIXED, {"placementType": "PickFixed", "topologySpreadConstraints": SPREAD}),
    (PICK_FIXED, {"placementType": "PickFixed", "tolerations": TOLERATIONS}),
    (PICK_ALL, {"placementType": "PickAll", "clusterNames": ["a"]}),
    (PICK_ALL, {"numberOfClusters": 1}),
    (PICK_ALL, {"placementType": "PickAll", "topologySpreadConstraints": SPREAD}),
    (PICK_N, {"placementType": "PickN"}),
    (PICK_N, {"placementType": "PickN", "numberOfClusters": 1, "clusterNames": ["a"]}),
    (
        "value must be empty when operator is Exists",
        {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
    ),
    ("operator must be Exists when key is empty", {"tolerations": [{"value": "b"}]}),
    ("must have at most 100 items", {"placementType": "PickFixed", "clusterNames": ["a"] * 101}),
    ("greater than or equal to 0", {"placementType": "PickN", "numberOfClusters": -1}),
    ('supported values: "PickAll", "PickN", "PickFixed"', {"placementType": "PickSome"}),
]


@pytest.mark.parametrize(("text", "policy"), POLICIES)
async def test_invalid_policies_are_refused(
    hub: Hub, scope: Scope, text: str, policy: dict[str, Any]
) -> None:
    assert text in await refusal(dry_create(hub, scope.placement, placement_spec(policy=policy)))


@pytest.mark.parametrize(
    "policy",
    [
        {"placementType": "PickFixed", "clusterNames": ["a"]},
        {"placementType": "PickAll", "affinity": AFFINITY, "tolerations": TOLERATIONS},
        {
            "placementType": "PickN",
            "numberOfClusters": 0,
            "affinity": AFFINITY,
            "topologySpreadConstraints": SPREAD,
            "tolerations": TOLERATIONS,
        },
    ],
    ids=lambda policy: policy["placementType"],
)
async def test_each_type_of_policy_accepts_its_own_fields(
    hub: Hub, scope: Scope, policy: dict[str, Any]
) -> None:
    await dry_create(hub, scope.placement, placement_spec(policy=policy))


async def test_the_type_of_a_policy_cannot_be_changed(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    spec = placement_spec(policy={"placementType": "PickAll"})
    await make(scope.placement, sample(scope.placement, unique, spec))
    policy = {"placementType": "PickFixed", "clusterNames": ["a"]}
    text = await refusal(change(hub, scope.placement, unique, {"spec": {"policy": policy}}))
    assert "placement type is immutable" in text


async def test_a_policy_can_be_added_but_not_removed(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.placement, sample(scope.placement, unique, placement_spec()))
    await change(hub, scope.placement, unique, {"spec": {"policy": {}}})
    text = await refusal(change(hub, scope.placement, unique, {"spec": {"policy": None}}))
    assert "policy cannot be removed once set" in text


async def test_a_rolling_update_can_become_external_but_not_go_back(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.placement, sample(scope.placement, unique, placement_spec(strategy={})))

    def strategy(type_: str) -> dict[str, Any]:
        return {"spec": {"strategy": {"type": type_}}}

    await change(hub, scope.placement, unique, strategy("External"))
    text = await refusal(change(hub, scope.placement, unique, strategy("RollingUpdate")))
    assert "cannot change rollout strategy type from 'External' to other types" in text


@pytest.mark.parametrize("limit", [1, 1000])
async def test_1_to_1000_revisions_are_kept(hub: Hub, scope: Scope, limit: int) -> None:
    await dry_create(hub, scope.placement, placement_spec(revisionHistoryLimit=limit))


@pytest.mark.parametrize("limit", [0, 1001])
async def test_fewer_or_more_revisions_are_refused(hub: Hub, scope: Scope, limit: int) -> None:
    spec = placement_spec(revisionHistoryLimit=limit)
    assert "spec.revisionHistoryLimit" in await refusal(dry_create(hub, scope.placement, spec))


async def test_mirroring_status_needs_a_destination(hub: Hub, scope: Scope) -> None:
    strategy = {"reportBackStrategy": {"type": "Mirror"}}
    text = await refusal(dry_create(hub, scope.placement, placement_spec(strategy=strategy)))
    assert "when reportBackStrategy.type is 'Mirror', a destination must be specified" in text
    strategy["reportBackStrategy"]["destination"] = "WorkAPI"
    await dry_create(hub, scope.placement, placement_spec(strategy=strategy))


@pytest.mark.parametrize("share", ["101%", "1.5%", "-1", "a"])
async def test_a_rolling_update_takes_numbers_and_percentages(
    hub: Hub, scope: Scope, share: str
) -> None:
    strategy = {"rollingUpdate": {"maxUnavailable": share}}
    text = await refusal(dry_create(hub, scope.placement, placement_spec(strategy=strategy)))
    assert "spec.strategy.rollingUpdate.maxUnavailable in body should match" in text


async def test_namespace_accessible_status_needs_exactly_one_namespace(hub: Hub) -> None:
    role = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole"}
    spec = placement_spec(statusReportingScope="NamespaceAccessible")
    await dry_create(hub, CRP, spec)
    for selectors in ([role], [namespace_selector(), namespace_selector(name="b")]):
        text = await refusal(dry_create(hub, CRP, spec | {"resourceSelectors": selectors}))
        assert (
            "when statusReportingScope is NamespaceAccessible, exactly one resourceSelector with"
            " kind 'Namespace' is required" in text
        )


async def test_the_reporting_scope_of_a_cluster_placement_cannot_be_changed(
    hub: Hub, make: Make, unique: str
) -> None:
    await make(CRP, sample(CRP, unique, placement_spec()))
    accessible = {"spec": {"statusReportingScope": "NamespaceAccessible"}}
    assert "statusReportingScope is immutable" in await refusal(
        change(hub, CRP, unique, accessible)
    )


async def test_the_reporting_scope_has_no_effect_on_a_namespaced_placement(
    hub: Hub, make: Make, unique: str
) -> None:
    config_maps = {"group": "", "version": "v1", "kind": "ConfigMap"}
    spec = placement_spec(resourceSelectors=[config_maps])
    await make(RESOURCE_PLACEMENT, sample(RESOURCE_PLACEMENT, unique, spec))
    accessible = {"spec": {"statusReportingScope": "NamespaceAccessible"}}
    await change(hub, RESOURCE_PLACEMENT, unique, accessible)
