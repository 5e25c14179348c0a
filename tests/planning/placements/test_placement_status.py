"""The status of a placement, mostly with an external rollout (contract: placement 7.1 to 7.5)."""

from datetime import timedelta

import pytest

from api import names
from api.kinds import CLUSTER_SCOPE, Scope
from api.placements import PlacementStatus
from planning.placements.placement_status import View, status
from tests.planning.placements.statuses import (
    ALL_TRUE,
    CHAIN,
    EARLIER,
    NOW,
    PENDING,
    SCOPES,
    Json,
    binding,
    condition,
    placement,
    policy,
    said,
    see,
)


@SCOPES
def test_invalid_selectors_are_reported(scope: Scope) -> None:
    made = see([binding("a", *ALL_TRUE)], scope=scope, error="no such kind")

    (only,) = made.to_wire()["conditions"]
    assert only == {
        "type": f"{scope.placement.kind}Scheduled",
        "status": "False",
        "reason": "InvalidResourceSelectors",
        "message": "The resource selectors are invalid: no such kind",
        "observedGeneration": 4,
        "lastTransitionTime": "2026-01-02T12:00:00Z",
    }
    assert made.placement_statuses == []


def test_a_placement_that_is_not_scheduled_yet_keeps_its_other_conditions() -> None:
    kind = "ClusterResourcePlacementApplied"
    before = {
        "conditions": [condition(kind, "True", 3)],
        "placementStatuses": [{"clusterName": "a", "conditions": []}],
    }

    made = see([binding("a")], of=placement(before=before), by=policy("a", observed=3))

    assert [each.type for each in made.conditions] == [kind, "ClusterResourcePlacementScheduled"]
    assert made.conditions[1].status == "Unknown"
    assert made.conditions[1].reason == "SchedulePending"
    assert made.conditions[1].message == "Scheduling has not completed"
    assert made.placement_statuses == []


@SCOPES
def test_without_a_run_no_cluster_has_a_snapshot(scope: Scope) -> None:
    made = see([binding(name, index="") for name in ("a", "b")], scope=scope)

    scheduled, started = made.conditions
    assert (scheduled.message, scheduled.reason) == ("as decided", "Test")
    assert started.status == "Unknown"
    assert started.reason == "RolloutControlledByExternalController"
    assert started.message == (
        "Rollout is controlled by an external controller and no resource snapshot name is "
        "observed across clusters. To determine rollout status, check the "
        f"{scope.run.kind} resources with spec.placementName matching this placement"
    )
    assert made.to_wire().keys() == {"conditions", "placementStatuses"}
    entry = made.to_wire()["placementStatuses"][0]
    assert entry.keys() == {"clusterName", "conditions"}
    assert [each["type"] for each in entry["conditions"]] == ["Scheduled", "RolloutStarted"]
    assert entry["conditions"][0]["message"] == "a!"
    reason, message = PENDING["RolloutStarted"]
    assert (entry["conditions"][1]["reason"], entry["conditions"][1]["message"]) == (
        reason,
        message,
    )


def test_during_a_run_the_snapshots_differ() -> None:
    for other in ("", "1"):
        made = see([binding("a", *ALL_TRUE), binding("b", index=other)])
        assert said(made) == ["Scheduled True", "RolloutStarted Unknown"]
        assert made.conditions[1].message == (
            "Rollout is controlled by an external controller and different resource snapshot "
            "versions are observed across clusters"
        )
        assert (made.observed_resource_index, made.selected_resources) == ("", [])


def test_after_a_run_everything_is_true() -> None:
    made = see([binding(name, *ALL_TRUE) for name in ("a", "b", "c")])

    assert said(made) == ["Scheduled True", *(f"{kind} True" for kind in CHAIN)]
    assert [each.message for each in made.conditions[1:]] == [
        "All 3 cluster(s) start rolling out the latest resource",
        "No override rules are configured for the selected resources",
        "Work(s) are successfully created or updated in 3 target cluster(s)' namespaces",
        "The selected resources are successfully applied to 3 cluster(s)",
        "The selected resources in 3 cluster(s) are available now",
    ]
    assert made.observed_resource_index == "0"
    assert [each.to_wire() for each in made.selected_resources] == [
        {"version": "v1", "kind": "ConfigMap", "name": "cm", "namespace": "app"}
    ]
    copied = made.placement_statuses[1].conditions[5]
    assert (copied.message, copied.observed_generation) == ("Available of b", 4)


def test_a_cluster_whose_rollout_has_not_started_is_named() -> None:
    made = see([binding("a", *ALL_TRUE), binding("b", *ALL_TRUE, stale="RolloutStarted")])

    assert said(made) == ["Scheduled True", "RolloutStarted Unknown"]
    assert made.conditions[1].message == (
        "Rollout is controlled by an external controller and cluster b is in "
        "RolloutStarted Unknown state"
    )
    assert made.observed_resource_index == "0"
    assert len(made.selected_resources) == 1


@pytest.mark.parametrize(
    ("states", "last"),
    [
        (("False",), "RolloutStarted False"),
        (("True", "False"), "Overridden False"),
        (("True", "True", "False"), "WorkSynchronized False"),
        (("True", "True", "True", "False"), "Applied False"),
        (("True", "True", "True", "True", "False"), "Available False"),
        (("True",), "Overridden Unknown"),
        (("True", "True", "True"), "Applied Unknown"),
    ],
)
def test_the_chain_ends_at_the_step_of_the_slowest_cluster(
    states: tuple[str, ...], last: str
) -> None:
    made = see([binding("a", *ALL_TRUE), binding("b", *states)])

    assert said(made)[-1] == last
    kind, state = last.split()
    entry = made.placement_statuses[1].conditions[-1]
    assert (entry.type, entry.status) == (kind, state)
    if state == "Unknown":
        assert (entry.reason, entry.message) == PENDING[kind]


def test_unknown_takes_precedence_over_false() -> None:
    failing = binding("a", "True", "True", "True", "False")
    unknown = binding("b", "True", "True", "True")
    made = see([failing, unknown, binding("c", *ALL_TRUE)])

    assert made.conditions[-1].reason == "ApplyPending"
    assert made.conditions[-1].message == (
        "There are still 1 cluster(s) in the process of applying the resources on the "
        "member cluster"
    )


def test_the_chain_of_diff_reports() -> None:
    chain = (*CHAIN[:3], "DiffReported")
    diffed = {
        "version": "v1",
        "kind": "ConfigMap",
        "name": "cm",
        "observationTime": EARLIER,
        "firstDiffedObservedTime": EARLIER,
    }
    bound = binding("a", *ALL_TRUE[:4], chain=chain, diffedPlacements=[diffed])

    made = see([bound], of=placement(apply="ReportDiff"))

    assert said(made)[-1] == "DiffReported True"
    assert made.conditions[-1].message == "Diff reporting in 1 cluster(s) has been completed"
    assert made.placement_statuses[0].to_wire()["diffedPlacements"] == [diffed]


def test_failures_are_copied_with_the_condition_that_failed() -> None:
    failed = {
        "version": "v1",
        "kind": "ConfigMap",
        "name": "cm",
        "condition": condition("Applied", "False", 1),
    }
    sick = binding("a", "True", "True", "True", "False", failedPlacements=[failed])
    stale = binding(
        "b", "True", "True", "True", "False", stale="Applied", failedPlacements=[failed]
    )

    made = see([sick, stale])

    assert made.placement_statuses[0].to_wire()["failedPlacements"] == [failed]
    assert "failedPlacements" not in made.placement_statuses[1].to_wire()


def test_overrides_are_listed_and_reported() -> None:
    overrides = {
        "clusterResourceOverrideSnapshots": ["o-0"],
        "resourceOverrideSnapshots": [{"name": "r-0", "namespace": "app"}],
    }
    made = see([binding("a", *ALL_TRUE, spec=overrides), binding("b", *ALL_TRUE)])

    entry = made.placement_statuses[0].to_wire()
    assert entry["applicableClusterResourceOverrides"] == ["o-0"]
    assert entry["applicableResourceOverrides"] == [{"name": "r-0", "namespace": "app"}]
    assert made.conditions[2].reason == "OverriddenSucceeded"
    assert made.conditions[2].message == (
        "The selected resources are successfully overridden in 2 cluster(s)"
    )


def test_bindings_of_an_earlier_policy_or_being_deleted_do_not_count() -> None:
    old = binding("a", *ALL_TRUE, policy_name="p-9")
    going = binding("b", *ALL_TRUE, metadata={"deletionTimestamp": EARLIER})

    made = see([old, going])

    assert [each.cluster_name for each in made.placement_statuses] == ["a", "b"]
    for entry in made.placement_statuses:
        assert [each.type for each in entry.conditions] == ["Scheduled", "RolloutStarted"]
        assert entry.observed_resource_index == ""


def test_a_deleted_snapshot_has_no_index() -> None:
    made = see([binding("a", *ALL_TRUE, index="5")])
    assert made.placement_statuses[0].observed_resource_index == ""


def test_without_a_picked_cluster_only_scheduled_remains() -> None:
    before = {"conditions": [condition("ClusterResourcePlacementApplied", "True", 3)]}
    made = see([], of=placement(before=before))
    assert said(made) == ["Scheduled True"]
    assert made.placement_statuses == []


def test_a_rolling_update_without_a_picked_cluster_lists_the_selected_resources() -> None:
    made = see([], of=placement(strategy="RollingUpdate"))
    assert said(made) == ["Scheduled True"]
    assert made.observed_resource_index == "1"
    assert [each.name for each in made.selected_resources] == ["cm"]


@pytest.mark.parametrize(
    ("spec", "listed"),
    [
        ({"placementType": "PickAll"}, []),
        ({"placementType": "PickFixed", "clusterNames": ["a", "b", "c"]}, ["no b", "no c"]),
        ({"placementType": "PickN", "numberOfClusters": 2}, ["no b"]),
        ({"placementType": "PickN", "numberOfClusters": 1}, []),
    ],
)
def test_missing_clusters_are_listed(spec: Json, listed: list[str]) -> None:
    made = see([binding("a", index="")], by=policy("a", missing=("b", "c"), **spec))

    missing = [each for each in made.placement_statuses if not each.cluster_name]
    assert [each.conditions[0].message for each in missing] == listed
    assert all(each.conditions[0].reason == "ScheduleFailed" for each in missing)


@pytest.mark.parametrize(("wanted", "listed"), [(0, []), (1, []), (2, ["no b"])])
def test_a_changed_number_decides_how_many_clusters_are_missing(
    wanted: int, listed: list[str]
) -> None:
    # The number of the first policy stays in the snapshot's spec; its annotation has the new one.
    decided = policy("a", missing=("b", "c"), placementType="PickN", numberOfClusters=3)
    decided.metadata.annotations[names.NUMBER_OF_CLUSTERS] = str(wanted)

    made = see([binding("a", index="")], by=decided)

    missing = [each for each in made.placement_statuses if not each.cluster_name]
    assert [each.conditions[0].message for each in missing] == listed


def test_times_change_only_with_the_status() -> None:
    first = see([binding("a", index="")])
    later = NOW + timedelta(minutes=1)
    view = View(
        scope=CLUSTER_SCOPE,
        placement=placement(before=first.to_wire()),
        now=later,
        policy=policy("a"),
        bindings=[binding("a", index="")],
    )

    second = status(view)

    assert second == PlacementStatus.from_wire(first.to_wire())


def test_a_rolling_update_is_not_reported_as_externally_controlled() -> None:
    made = see([binding("a", index="")], of=placement(strategy="RollingUpdate"))
    assert made.conditions[1].reason == "RolloutStartedUnknown"
    assert made.observed_resource_index == "1"


def test_a_rolling_update_is_undecided_while_a_cluster_has_another_snapshot() -> None:
    rolling = placement(strategy="RollingUpdate")
    done = binding("a", *["True"] * 5, index="1")
    made = see([done, binding("b", *["True"] * 5)], of=rolling)
    (_, started) = made.conditions
    assert (started.status, started.reason) == ("Unknown", "RolloutStartedUnknown")
    assert started.message.startswith("There are still 1 cluster(s)")


def test_a_cluster_held_back_by_a_rolling_update_says_so() -> None:
    rolling = placement(strategy="RollingUpdate")
    done = binding("a", *["True"] * 5, index="1")
    made = see([done, binding("b", "False", "True", "True", "True", "True")], of=rolling)
    (_, started) = made.conditions
    assert (started.status, started.reason) == ("False", "RolloutNotStartedYet")
    assert made.observed_resource_index == "1"
    assert [each.observed_resource_index for each in made.placement_statuses] == ["1", "1"]
