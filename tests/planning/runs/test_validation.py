"""Whether a run in progress may continue, with the exact message if not (update-runs 9)."""

from collections.abc import Callable
from typing import Any

import pytest

from api.applying import ApplyStrategy, WhenToApply
from api.runs import UpdateRunStatus
from planning import conditions
from planning.errors import RunError, StageAborted, TransientState
from planning.identity import RunRef
from planning.runs import validation
from planning.runs.facts import BindingFact, HubFacts, PlacementFact
from tests.planning.run_samples import (
    CLUSTER_RUN,
    NOW,
    binding,
    both_scopes,
    cluster,
    facts,
    planned,
    policy,
    stage,
    strategy,
)

ABORT = "cannot continue the updateRun: "
INVALID = ABORT + "failed to validate the updateRun: "
USER = "failed to process the request due to a client error: "
UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "

Bend = Callable[[UpdateRunStatus], object]


def violation(known: HubFacts, status: UpdateRunStatus, run: RunRef = CLUSTER_RUN) -> str:
    with pytest.raises(RunError) as refused:
        validation.check(known, run=run, status=status)
    assert not isinstance(refused.value, TransientState)
    return str(refused.value)


def pick_n(count: int) -> Any:
    return policy(placement_type="PickN", cluster_count=str(count))


# -- what may change -------------------------------------------------------------------------

GROWN = strategy(stage(), stage("new", "new"))
HARMLESS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "the strategy is edited": {"strategy": GROWN},
    "the strategy is deleted": {"strategy": None},
    "bindings are bound": {"bindings": [binding("a", state="Bound"), binding("b")]},
    "a cluster joins that is not picked": {
        "clusters": [cluster("a"), cluster("b"), cluster("c")],
    },
    "irrelevant labels change": {"clusters": [cluster("a", zone="x"), cluster("b")]},
    "the run's spec changes": {"generation": 2},
}


@pytest.mark.parametrize("changed", HARMLESS.values(), ids=list(HARMLESS))
def test_a_run_continues_when(changed: dict[str, Any]) -> None:
    validation.check(facts(**changed), run=CLUSTER_RUN, status=planned(facts()))


def test_a_run_continues_when_a_cluster_to_be_deleted_is_gone() -> None:
    before = facts(bindings=[binding("a"), binding("b"), binding("c", state="Unscheduled")])
    validation.check(facts(), run=CLUSTER_RUN, status=planned(before))


def test_a_run_that_only_deletes_continues_when_all_bindings_are_gone() -> None:
    before = facts(bindings=[binding("a", state="Unscheduled")])
    validation.check(facts(bindings=[]), run=CLUSTER_RUN, status=planned(before))


def test_a_binding_of_an_older_policy_snapshot_means_retry() -> None:
    known = facts(bindings=[binding("a", policy_snapshot="old"), binding("b")])
    with pytest.raises(TransientState):
        validation.check(known, run=CLUSTER_RUN, status=planned(facts()))


# -- what ends the run -----------------------------------------------------------------------

OUTDATED = {
    "the placement is gone": ({"placement": None}, INVALID + USER + "parent placement not found"),
    "the placement's rollout strategy": (
        {"placement": PlacementFact(strategy_type="RollingUpdate", apply_strategy=ApplyStrategy())},
        INVALID + USER + "parent placement does not have an external rollout strategy, "
        "current strategy: RollingUpdate",
    ),
    "no policy snapshot": (
        {"policies": []},
        INVALID + "no latest policy snapshot found for placement {ns}/web",
    ),
    "not scheduled": (
        {"policies": [policy(scheduled=False)]},
        INVALID + "policy snapshot `web-0` not fully scheduled yet",
    ),
    "the policy": (
        {"policies": [policy(index="1")]},
        ABORT + "the policy snapshot index used in the updateRun is outdated, "
        "latest: 1, recorded: 0",
    ),
    "no bindings": (
        {"bindings": []},
        INVALID + "no scheduled or to-be-deleted bindings found "
        "for the latest policy snapshot {ns}/web-0",
    ),
    "a cluster loses its label": (
        {"clusters": [cluster("a"), cluster("b", "dev")]},
        INVALID + USER + "some clusters are not placed in any stage, total 1, showing up to 10: b",
    ),
    "a cluster is no longer picked": (
        {"bindings": [binding("a")]},
        ABORT + "the number of clusters in index `0` stage has changed, new: 1, existing: 2",
    ),
    "a cluster is picked in the place of another": (
        {"bindings": [binding("a"), binding("c")], "clusters": [cluster("a"), cluster("c")]},
        ABORT + "the `1` cluster in the `0` stage has changed, new: c, existing: b",
    ),
    "a cluster is to be deleted": (
        {"bindings": [binding("a"), binding("b"), binding("c", state="Unscheduled")]},
        f"{ABORT}{UNEXPECTED}the cluster `c` to be deleted is not in the delete stage",
    ),
}


@both_scopes
@pytest.mark.parametrize(("changed", "text"), OUTDATED.values(), ids=list(OUTDATED))
def test_a_run_ends_when_the_hub_has_changed(
    run: RunRef, ns: str, changed: dict[str, Any], text: str
) -> None:
    status = planned(facts(), run=run)
    assert violation(facts(**changed), status, run) == text.replace("{ns}", ns)


def test_a_run_ends_when_the_apply_strategy_changes() -> None:
    careful = ApplyStrategy(when_to_apply=WhenToApply.IF_NOT_DRIFTED)
    known = facts(placement=PlacementFact(strategy_type="External", apply_strategy=careful))
    text = violation(known, planned(facts()))
    assert text.startswith(
        ABORT + USER + "the applyStrategy in the updateRun is outdated, latest: "
    )
    assert "IfNotDrifted" in text
    assert ", recorded: " in text


def test_a_run_ends_when_the_number_of_clusters_changes() -> None:
    status = planned(facts(policies=[pick_n(2)]))
    assert violation(facts(policies=[pick_n(3)]), status) == (
        ABORT + "the cluster count initialized in the updateRun is outdated, latest: 3, recorded: 2"
    )


def test_a_run_ends_when_bindings_and_number_of_clusters_disagree() -> None:
    status = planned(facts(policies=[pick_n(2)]))
    known = facts(policies=[pick_n(2)], bindings=[binding("a")])
    assert violation(known, status) == (
        f"{INVALID}{UNEXPECTED}"
        "the number of selected bindings 1 is not equal to the observed cluster count 2"
    )


def test_a_run_ends_when_a_sorting_label_moves_a_cluster() -> None:
    declared = strategy(stage(sorting_label_key="order"))
    before = facts(strategy=declared, clusters=[cluster("a", order="1"), cluster("b", order="2")])
    after = facts(strategy=declared, clusters=[cluster("a", order="3"), cluster("b", order="2")])
    assert violation(after, planned(before)) == (
        ABORT + "the `0` cluster in the `0` stage has changed, new: b, existing: a"
    )


def test_a_run_ends_when_a_cluster_moves_to_another_stage() -> None:
    declared = strategy(stage("canary", "dev"), stage())
    before = facts(strategy=declared)
    after = facts(strategy=declared, clusters=[cluster("a", "dev"), cluster("b")])
    assert violation(after, planned(before)) == (
        ABORT + "the number of clusters in index `0` stage has changed, new: 1, existing: 0"
    )


MEDDLED: dict[str, tuple[Bend, str]] = {
    "the strategy": (
        lambda status: setattr(status, "staged_update_strategy_snapshot", None),
        UNEXPECTED + "the updateRun has nil updateStrategySnapshot",
    ),
    "the number of stages": (
        lambda status: status.stages_status.pop(),
        "the number of stages in the updateRun has changed, new: 1, existing: 0",
    ),
    "the name of a stage": (
        lambda status: setattr(status.stages_status[0], "stage_name", "x"),
        "index `0` stage name in the updateRun has changed, new: prod, existing: x",
    ),
    "the deletion stage": (
        lambda status: setattr(status, "deletion_stage_status", None),
        UNEXPECTED + "the updateRun has nil deletionStageStatus",
    ),
}


@pytest.mark.parametrize(("bend", "text"), MEDDLED.values(), ids=list(MEDDLED))
def test_a_run_ends_when_its_own_status_was_changed(bend: Bend, text: str) -> None:
    status = planned(facts())
    bend(status)
    assert violation(facts(), status) == ABORT + text


STEPS: list[dict[str, Any]] = [
    {"placement": None},
    {"policies": [policy(index="1")]},
    {"bindings": []},
    {"clusters": []},
]


@pytest.mark.parametrize("first", range(len(STEPS)))
def test_the_first_reason_in_the_contracts_order_is_reported(first: int) -> None:
    later = {name: value for step in STEPS[first:] for name, value in step.items()}
    status = planned(facts())
    assert violation(facts(**later), status) == violation(facts(**STEPS[first]), status)


def test_a_deleted_cluster_that_has_a_binding_again_fails_the_deletion_stage() -> None:
    known = facts(bindings=[binding("a"), binding("b"), binding("c", state="Unscheduled")])
    status = planned(known)
    assert status.deletion_stage_status is not None
    status.deletion_stage_status.clusters[0].conditions.append(
        conditions.make("Succeeded", "True", "Done", "", generation=1, now=NOW)
    )
    with pytest.raises(StageAborted) as aborted:
        validation.check(known, run=CLUSTER_RUN, status=status)
    assert str(aborted.value) == (
        f"{ABORT}{UNEXPECTED}the deleted cluster `c` in the deleting stage still has a binding"
    )


def test_a_second_binding_of_a_cluster_being_deleted_fails_the_deletion_stage() -> None:
    def leaving(name: str, *, deleting: bool) -> BindingFact:
        return binding(name, cluster="c", state="Unscheduled", deleting=deleting)

    picked = [binding("a"), binding("b")]
    status = planned(facts(bindings=[*picked, leaving("c", deleting=False)]))
    assert status.deletion_stage_status is not None
    status.deletion_stage_status.clusters[0].conditions.append(
        conditions.make("Started", "True", "Begun", "", generation=1, now=NOW)
    )
    both = [*picked, leaving("c", deleting=True), leaving("c2", deleting=False)]
    with pytest.raises(StageAborted) as aborted:
        validation.check(facts(bindings=both), run=CLUSTER_RUN, status=status)
    assert str(aborted.value) == (
        f"{ABORT}{UNEXPECTED}the cluster `c` in the deleting stage is marked as deleting but its "
        "corresponding binding is not deleting"
    )


@pytest.mark.parametrize("deleting", [True, False])
def test_a_binding_that_is_being_deleted_or_about_to_be_is_fine(deleting: bool) -> None:
    known = facts(bindings=[binding("a"), binding("c", state="Unscheduled", deleting=deleting)])
    status = planned(known)
    assert status.deletion_stage_status is not None
    status.deletion_stage_status.clusters[0].conditions.append(
        conditions.make("Started", "True", "Begun", "", generation=1, now=NOW)
    )
    validation.check(known, run=CLUSTER_RUN, status=status)


def test_the_current_bindings_are_returned() -> None:
    status = planned(facts())
    anew = facts(bindings=[binding("a"), binding("b-again", cluster="b")])
    targets = validation.check(anew, run=CLUSTER_RUN, status=status).targets
    assert targets.selected == {"a": "web-a", "b": "web-b-again"}


def test_a_check_does_not_change_the_status() -> None:
    status = planned(facts())
    before = status.model_copy(deep=True)
    violation(facts(clusters=[]), status)
    assert status == before
