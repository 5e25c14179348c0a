"""What a run writes to a binding, and what it reads from it (contract: update-runs 8.4, 8.6)."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.applying import ApplyStrategy, ApplyType, ServerSideApplyConfig
from api.base import NamespacedName
from api.bindings import Binding, BindingState
from planning import bindings
from planning.bindings import BindingProgress, Desired
from tests.planning import json_patch
from tests.planning.run_samples import LATER, NOW
from tests.support import conditions

GENERATION = 3
DESIRED = Desired(snapshot="web-1-snapshot", apply_strategy=ApplyStrategy())


condition = partial(
    conditions.condition, generation=GENERATION, reason="Because", message="so it is", at=NOW
)
"""By default of the binding's current generation."""


STARTED = condition("RolloutStarted")


def wire(*conditions: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a binding with the desired content, as the API server stores it."""
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourceBinding",
        "metadata": {"name": "web-a", "generation": GENERATION},
        "spec": {
            "state": "Bound",
            "resourceSnapshotName": "web-1-snapshot",
            "schedulingPolicySnapshotName": "web-0",
            "targetCluster": "a",
            "clusterDecision": {"clusterName": "a", "selected": True, "reason": "picked"},
            "applyStrategy": {
                "comparisonOption": "PartialComparison",
                "type": "ClientSideApply",
                "whenToApply": "Always",
                "whenToTakeOver": "Always",
            },
        }
        | spec,
        "status": {"conditions": list(conditions)},
    }


def binding(*conditions: dict[str, Any], **spec: Any) -> Binding:
    return Binding.from_wire(wire(*conditions, **spec))


# -- content -----------------------------------------------------------------------------------


def test_a_binding_with_the_desired_content_is_synced() -> None:
    assert DESIRED.synced(binding())
    assert DESIRED.synced(binding(applyStrategy={}))
    assert DESIRED.synced(binding(state="Scheduled"))
    assert DESIRED.synced(binding(clusterResourceOverrideSnapshots=[]))


@pytest.mark.parametrize(
    "spec",
    [
        {"resourceSnapshotName": "web-0-snapshot"},
        {"resourceSnapshotName": ""},
        {"applyStrategy": {"type": "ServerSideApply"}},
        {"applyStrategy": {"whenToApply": "IfNotDrifted"}},
        {"applyStrategy": None},
        {"clusterResourceOverrideSnapshots": ["one"]},
        {"resourceOverrideSnapshots": [{"name": "one", "namespace": "team"}]},
    ],
)
def test_a_binding_with_any_other_content_is_not_synced(spec: dict[str, Any]) -> None:
    assert not DESIRED.synced(binding(**spec))


def test_overrides_must_be_the_same_in_the_same_order() -> None:
    desired = DESIRED.model_copy(update={"cluster_resource_overrides": ["one", "two"]})
    assert desired.synced(binding(clusterResourceOverrideSnapshots=["one", "two"]))
    assert not desired.synced(binding(clusterResourceOverrideSnapshots=["two", "one"]))


def test_only_fields_that_differ_are_patched() -> None:
    assert DESIRED.patch(binding()) == []
    assert DESIRED.patch(binding(state="Scheduled")) == [
        {"op": "add", "path": "/spec/state", "value": "Bound"}
    ]
    assert DESIRED.patch(binding(resourceSnapshotName="web-0-snapshot")) == [
        {"op": "add", "path": "/spec/resourceSnapshotName", "value": "web-1-snapshot"}
    ]
    assert DESIRED.patch(binding(clusterResourceOverrideSnapshots=["old"])) == [
        {"op": "add", "path": "/spec/clusterResourceOverrideSnapshots", "value": []}
    ]


def test_a_binding_that_was_never_rolled_out_gets_everything_it_lacks() -> None:
    new = wire(state="Scheduled", resourceSnapshotName="")
    del new["spec"]["applyStrategy"]
    written = json_patch.apply(new, DESIRED.patch(Binding.from_wire(new)))
    assert written == wire()


@pytest.mark.parametrize("written", [{}, {"allowCoOwnership": False}, {"type": "ClientSideApply"}])
def test_a_default_is_the_same_whether_written_or_not(written: dict[str, Any]) -> None:
    for strategy in (ApplyStrategy(), ApplyStrategy(allow_co_ownership=False)):
        desired = DESIRED.model_copy(update={"apply_strategy": strategy})
        assert desired.synced(binding(applyStrategy=written))
        assert desired.patch(binding(applyStrategy=written)) == []


STRATEGIES = st.builds(
    ApplyStrategy,
    type=st.sampled_from(ApplyType),
    allow_co_ownership=st.booleans(),
    server_side_apply_config=st.none() | st.builds(ServerSideApplyConfig, force=st.booleans()),
) | st.just(ApplyStrategy())
OVERRIDES = st.lists(st.sampled_from(["one", "two"]), max_size=2)
NAMES = st.lists(st.builds(NamespacedName, name=st.just("x"), namespace=st.sampled_from("ab")))
CONTENTS = st.builds(
    Desired,
    snapshot=st.sampled_from(["web-0-snapshot", "web-1-snapshot"]),
    apply_strategy=STRATEGIES,
    cluster_resource_overrides=OVERRIDES,
    resource_overrides=NAMES,
)


@given(CONTENTS, CONTENTS, st.sampled_from(BindingState))
@settings(deadline=None)
def test_a_patch_leads_to_the_desired_content_and_is_empty_if_it_is_already_there(
    before: Desired, desired: Desired, state: BindingState
) -> None:
    unwritten = wire(state=state.value)
    found = json_patch.apply(unwritten, before.patch(Binding.from_wire(unwritten)))
    found["spec"]["state"] = state.value
    there = Binding.from_wire(found)
    patch = desired.patch(there)
    assert (patch == []) == (desired.synced(there) and state is BindingState.BOUND)

    after = json_patch.apply(found, patch)
    assert desired.synced(Binding.from_wire(after))
    assert desired.patch(Binding.from_wire(after)) == []
    assert after["spec"]["state"] == "Bound"
    assert after["spec"]["clusterDecision"] == unwritten["spec"]["clusterDecision"]


# -- announcing --------------------------------------------------------------------------------


def test_a_run_announces_the_index_it_uses() -> None:
    found = bindings.rollout_started(index="1", run="v2", generation=4, now=NOW)
    assert found.to_wire() == {
        "type": "RolloutStarted",
        "status": "True",
        "observedGeneration": 4,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
        "reason": "RolloutStarted",
        "message": "Detected the new changes on the resources and started the rollout process, "
        "resourceSnapshotIndex: 1, updateRun: v2",
    }


@pytest.mark.parametrize(
    ("started", "announced"),
    [
        ([STARTED], True),
        ([], False),
        ([condition("RolloutStarted", generation=2)], False),
        ([condition("RolloutStarted", "False")], False),
    ],
)
def test_a_binding_is_announced_only_for_its_current_generation(
    started: list[dict[str, Any]], announced: bool
) -> None:
    assert bindings.announced(binding(*started)) is announced


@pytest.mark.parametrize(
    ("run", "at", "by_other"),
    [
        ("v2", "2026-01-02T03:05:05Z", False),
        ("v3", "2026-01-02T03:05:05Z", True),
        ("other-v2", "2026-01-02T03:05:05Z", True),
        ("v3", "2026-01-02T03:04:05Z", False),
        ("v3", "2026-01-02T03:00:00Z", False),
    ],
)
def test_another_run_is_known_by_the_name_it_announced(run: str, at: str, by_other: bool) -> None:
    message = bindings.rollout_started(index="1", run=run, generation=3, now=NOW).message
    started = condition("RolloutStarted", message=message, at=at)
    assert bindings.announced_by_other(binding(started), "v2", since=NOW) is by_other


def test_without_an_announcement_there_is_no_other_run() -> None:
    assert not bindings.announced_by_other(binding(), "v2", since=LATER)


@pytest.mark.parametrize(
    ("run", "announced", "at", "overtaken"),
    [
        ("v2", 2, "2026-01-02T03:04:05Z", True),
        ("v2", 3, "2026-01-02T03:04:05Z", False),
        ("v2", 4, "2026-01-02T03:04:05Z", False),
        ("v3", 2, "2026-01-02T03:04:05Z", False),
        ("v2", 2, "2026-01-02T03:00:00Z", False),
    ],
    ids=["changed since", "unchanged", "half written", "another run's", "long ago"],
)
def test_a_binding_changed_after_its_announcement_is_overtaken(
    run: str, announced: int, at: str, overtaken: bool
) -> None:
    message = bindings.rollout_started(index="1", run=run, generation=announced, now=NOW).message
    started = condition("RolloutStarted", message=message, generation=announced, at=at)
    assert bindings.overtaken(binding(started), "v2", since=NOW) is overtaken


def test_without_an_announcement_a_binding_is_not_overtaken() -> None:
    assert not bindings.overtaken(binding(), "v2", since=NOW)


# -- holding -----------------------------------------------------------------------------------


def test_a_run_holds_a_binding_that_is_as_it_left_it() -> None:
    assert bindings.held(binding(STARTED), DESIRED)


@pytest.mark.parametrize(
    "taken",
    [
        binding(STARTED, resourceSnapshotName="web-2-snapshot"),
        binding(STARTED, state="Unscheduled"),
        binding(STARTED, state="Scheduled"),
        binding(condition("RolloutStarted", generation=2)),
        binding(condition("RolloutStarted", "False")),
        binding(),
    ],
    ids=["content", "unscheduled", "not bound", "touched", "revoked", "not announced"],
)
def test_a_run_no_longer_holds_a_binding_that_was_changed(taken: Binding) -> None:
    assert not bindings.held(taken, DESIRED)


# -- progress ----------------------------------------------------------------------------------

NOT_YET = {
    "Overridden": "OverriddenPending",
    "WorkSynchronized": "WorkNotSynchronizedYet",
    "Applied": "ApplyPending",
    "Available": "ResourceNotAvailableYet",
}


@pytest.mark.parametrize("kind", ["Available", "DiffReported"])
def test_a_cluster_is_finished_when_its_content_is_available_or_compared(kind: str) -> None:
    assert bindings.progress(binding(STARTED, condition(kind))) is BindingProgress.FINISHED


@pytest.mark.parametrize("kind", ["Available", "DiffReported"])
def test_conditions_of_older_content_do_not_count(kind: str) -> None:
    stale = [condition(kind, generation=2), condition("Applied", "False", generation=2)]
    assert bindings.progress(binding(*stale)) is BindingProgress.UNDER_WAY
    assert bindings.failure(binding(*stale)) is None


@pytest.mark.parametrize("kind", ["Overridden", "WorkSynchronized", "Applied"])
def test_a_completed_step_is_not_the_end(kind: str) -> None:
    assert bindings.progress(binding(STARTED, condition(kind))) is BindingProgress.UNDER_WAY


@pytest.mark.parametrize(("kind", "reason"), NOT_YET.items())
def test_some_reasons_mean_no_more_than_not_yet(kind: str, reason: str) -> None:
    found = binding(condition(kind, "False", reason=reason))
    assert bindings.progress(found) is BindingProgress.UNDER_WAY
    assert bindings.failure(found) is None


@pytest.mark.parametrize("kind", NOT_YET)
@pytest.mark.parametrize(
    "reason", ["ApplyInProgress", "NotAllWorkHaveBeenApplied", "NotAllWorkAreAvailable", "Failed"]
)
def test_every_other_reason_of_a_step_is_a_failure(kind: str, reason: str) -> None:
    found = binding(condition(kind, "False", reason=reason))
    assert bindings.progress(found) is BindingProgress.FAILING
    assert bindings.failure(found) == f"{kind} {reason}: so it is"


@pytest.mark.parametrize("reason", ["Failed", *NOT_YET.values()])
def test_a_failed_comparison_is_a_failure_whatever_its_reason(reason: str) -> None:
    found = binding(condition("DiffReported", "False", reason=reason))
    assert bindings.progress(found) is BindingProgress.FAILING


def test_an_unknown_step_is_in_progress() -> None:
    assert bindings.progress(binding(condition("Applied", "Unknown"))) is BindingProgress.UNDER_WAY


def test_the_earliest_of_several_failures_is_named() -> None:
    found = binding(condition("Available", "False"), condition("Overridden", "False"))
    assert bindings.failure(found) == "Overridden Because: so it is"


def test_an_available_cluster_is_finished_whatever_else_is_reported() -> None:
    found = binding(condition("Applied", "False"), condition("Available"))
    assert bindings.progress(found) is BindingProgress.FINISHED
