"""Clusters that leave or join a run in progress: what is allowed, and what changed.

Each kind of leaving and joining, with each rule; whether the stage of a cluster is over does not
matter here.
"""

from typing import Any

import pytest

from api.applying import ApplyStrategy, WhenToApply
from api.reasons import ClusterReason, ConditionType
from api.rollout_policies import OnAdded, OnRemoved, OnUnassigned
from api.runs import UpdateRunStatus
from planning import conditions
from planning.errors import RunError, TransientState
from planning.identity import RunRef
from planning.runs import membership, validation
from planning.runs.facts import HubFacts, PlacementFact
from planning.runs.membership import Changes, Departure, Joiner, Leaver
from planning.runs.rules import RunRules
from planning.runs.validation import Checked
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

SKIP = RunRules(removed=OnRemoved.SKIP)
APPEND = RunRules(added=OnAdded.APPEND)
IGNORE = RunRules(added=OnAdded.IGNORE)
BOTH = RunRules(removed=OnRemoved.SKIP, added=OnAdded.APPEND)
TWO = strategy(stage(), stage("dev", "dev"))
SIZE = "the number of clusters in index `0` stage has changed"


def known(**changed: Any) -> HubFacts:
    """Return facts of a fleet with the stages prod (a, b) and dev (d)."""
    fields = {
        "strategy": TWO,
        "bindings": [binding("a"), binding("b"), binding("d")],
        "clusters": [cluster("a"), cluster("b"), cluster("d", "dev")],
    }
    return facts(**fields | changed)


def check(now: HubFacts, rules: RunRules, status: UpdateRunStatus | None = None) -> Checked:
    return validation.check(now, run=CLUSTER_RUN, status=status or planned(known()), rules=rules)


def fault(now: HubFacts, rules: RunRules, status: UpdateRunStatus | None = None) -> str:
    with pytest.raises(RunError) as refused:
        check(now, rules, status)
    assert not isinstance(refused.value, TransientState)
    return str(refused.value)


def without_b(**others: Any) -> list[Any]:
    return [binding("a"), binding("d"), *others.values()]


# -- leaving -------------------------------------------------------------------------------

LEAVING: dict[str, tuple[dict[str, Any], Leaver, str]] = {
    "no longer picked": (
        {"bindings": without_b(b=binding("b", state="Unscheduled"))},
        Leaver(cluster="b", stage="prod", how=Departure.UNPICKED),
        SIZE,
    ),
    "without a binding": (
        {"bindings": without_b()},
        Leaver(cluster="b", stage="prod", how=Departure.UNBOUND),
        SIZE,
    ),
    "unlabelled": (
        {"clusters": [cluster("a"), cluster("b", "none"), cluster("d", "dev")]},
        Leaver(cluster="b", stage="prod", how=Departure.STAGE),
        "some clusters are not placed in any stage",
    ),
    "moved to a later stage": (
        {"clusters": [cluster("a"), cluster("b", "dev"), cluster("d", "dev")]},
        Leaver(cluster="b", stage="prod", how=Departure.STAGE, other="dev"),
        SIZE,
    ),
    "gone from the fleet": (
        {"clusters": [cluster("a"), cluster("d", "dev")]},
        Leaver(cluster="b", stage="prod", how=Departure.FLEET),
        "some clusters are not placed in any stage",
    ),
}


@pytest.mark.parametrize(("changed", "leaver", "text"), LEAVING.values(), ids=list(LEAVING))
def test_a_cluster_leaves(changed: dict[str, Any], leaver: Leaver, text: str) -> None:
    now = known(**changed)
    for rules in (SKIP, BOTH):
        assert check(now, rules).changes == Changes(left=[leaver])
    for rules in (RunRules(), APPEND, IGNORE):
        assert text in fault(now, rules)


def test_a_binding_that_is_being_deleted_counts_as_gone_where_clusters_may_leave() -> None:
    now = known(bindings=without_b(b=binding("b", deleting=True)))
    left = Leaver(cluster="b", stage="prod", how=Departure.UNBOUND)
    checked = check(now, SKIP)
    assert checked.changes == Changes(left=[left])
    assert "b" not in checked.targets.selected
    for rules in (RunRules(), APPEND):
        assert check(now, rules).changes == Changes()


def test_a_binding_next_to_one_that_is_being_deleted_counts() -> None:
    second = binding("b2", cluster="b")
    now = known(bindings=without_b(b=binding("b", deleting=True), second=second))
    checked = check(now, SKIP)
    assert checked.changes == Changes()
    assert checked.targets.selected["b"] == "web-b2"


def test_all_clusters_may_leave() -> None:
    checked = check(known(bindings=[]), SKIP)
    assert [each.cluster for each in checked.changes.left] == ["a", "b", "d"]


def test_a_cluster_that_came_back_is_no_change() -> None:
    status = planned(known())
    left = conditions.make(
        ConditionType.SUCCEEDED, "False", ClusterReason.LEFT, "", generation=1, now=NOW
    )
    status.stages_status[0].clusters[1].conditions.append(left)
    assert check(known(), SKIP, status).changes == Changes()


def test_the_next_run_removes_what_a_cluster_that_left_has() -> None:
    gone = binding("b", state="Unscheduled")
    status = planned(known(bindings=[*known().bindings, binding("x", state="Unscheduled")]))
    now = known(bindings=without_b(b=gone, x=binding("x", state="Unscheduled")))
    assert check(now, SKIP, status).targets.leaving == {"x": "web-x"}


def test_a_cluster_that_the_run_never_had_may_go_as_it_came() -> None:
    now = known(bindings=[*known().bindings, binding("z", state="Unscheduled")])
    for rules in (SKIP, APPEND, IGNORE):
        assert check(now, rules).changes == Changes()
    assert "`z` to be deleted is not in the delete stage" in fault(now, RunRules())


# -- joining -------------------------------------------------------------------------------

CLUSTERS = known().clusters
JOINING: dict[str, tuple[str, Joiner, str]] = {
    "of the first stage": ("prod", Joiner(cluster="aa", stage="prod"), SIZE),
    "of the last stage": (
        "dev",
        Joiner(cluster="aa", stage="dev"),
        "the number of clusters in index `1` stage has changed",
    ),
}


@pytest.mark.parametrize(("env", "joiner", "text"), JOINING.values(), ids=list(JOINING))
def test_a_cluster_joins(env: str, joiner: Joiner, text: str) -> None:
    now = known(
        bindings=[*known().bindings, binding("aa")], clusters=[*CLUSTERS, cluster("aa", env)]
    )
    for rules in (APPEND, IGNORE, BOTH):
        checked = check(now, rules)
        assert checked.changes == Changes(joined=[joiner])
        assert checked.targets.selected["aa"] == "web-aa"
    for rules in (RunRules(), SKIP):
        assert text in fault(now, rules)


@pytest.mark.parametrize("rules", [RunRules(), SKIP, APPEND, IGNORE, BOTH])
def test_a_cluster_of_no_stage_joins_only_where_such_clusters_are_ignored(rules: RunRules) -> None:
    now = known(
        bindings=[*known().bindings, binding("z")], clusters=[*CLUSTERS, cluster("z", "none")]
    )
    assert "not placed in any stage, total 1, showing up to 10: z" in fault(now, rules)
    lenient = rules.model_copy(update={"unassigned": OnUnassigned.IGNORE})
    assert check(now, lenient).changes == Changes(joined=[Joiner(cluster="z")])
    few = lenient.model_copy(update={"unassigned_most": 0})
    assert "1 of the 4 picked clusters are not placed in any stage" in fault(now, few)


def test_a_cluster_that_left_its_stage_does_not_count_as_one_without_a_stage() -> None:
    now = known(clusters=[cluster("a"), cluster("b", "none"), cluster("d", "dev")])
    rules = SKIP.model_copy(update={"unassigned": OnUnassigned.IGNORE, "unassigned_most": 0})
    assert check(now, rules).changes.joined == []


def test_a_cluster_that_is_to_be_removed_may_not_be_picked_again() -> None:
    status = planned(known(bindings=[*known().bindings, binding("x", state="Unscheduled")]))
    now = known(bindings=[*known().bindings, binding("x")], clusters=[*CLUSTERS, cluster("x")])
    assert SIZE in fault(now, BOTH, status)


# -- what else may change ------------------------------------------------------------------


@both_scopes
def test_a_pick_that_moves_is_one_that_leaves_and_one_that_joins(run: RunRef, ns: str) -> None:
    three = {"placement_type": "PickN", "cluster_count": "3"}
    status = planned(known(policies=[policy(**three)]), run=run)
    again = {"policy_snapshot": "web-1"}
    now = known(
        policies=[policy(name="web-1", index="1", **three)],
        bindings=[
            *(binding(each, **again) for each in ("a", "c", "d")),
            binding("b", state="Unscheduled"),
        ],
        clusters=[*CLUSTERS, cluster("c")],
    )
    checked = validation.check(now, run=run, status=status, rules=BOTH)
    assert checked.changes == Changes(
        left=[Leaver(cluster="b", stage="prod", how=Departure.UNPICKED)],
        joined=[Joiner(cluster="c", stage="prod")],
    )
    for rules in (SKIP, APPEND):
        with pytest.raises(RunError, match=r"the policy snapshot index used .* is outdated"):
            validation.check(now, run=run, status=status, rules=rules)


@pytest.mark.parametrize("rules", [SKIP, APPEND, IGNORE])
@pytest.mark.parametrize("count", [2, 4])
def test_another_number_of_clusters_is_no_change_until_there_are_others(
    count: int, rules: RunRules
) -> None:
    status = planned(known(policies=[policy(placement_type="PickN", cluster_count="3")]))
    now = known(policies=[policy(placement_type="PickN", cluster_count=str(count))])
    assert check(now, rules, status).changes == Changes()


def test_a_policy_that_is_not_scheduled_yet_means_retry() -> None:
    now = known(policies=[policy(scheduled=False, looked_at=False)])
    for rules in (SKIP, APPEND):
        with pytest.raises(TransientState):
            check(now, rules)


def test_too_few_clusters_for_a_policy_are_fine_where_clusters_may_leave() -> None:
    now = known(policies=[policy(scheduled=False)], bindings=without_b())
    assert [each.cluster for each in check(now, SKIP).changes.left] == ["b"]
    assert "not fully scheduled yet" in fault(now, APPEND)


def test_the_order_of_the_plan_stays() -> None:
    sorts = strategy(stage(sorting_label_key="order"))
    before = facts(strategy=sorts, clusters=[cluster("a", order="1"), cluster("b", order="2")])
    after = facts(strategy=sorts, clusters=[cluster("a", order="3"), cluster("b", order="2")])
    status = planned(before)
    assert check(after, BOTH, status).changes == Changes()
    assert "cluster in the `0` stage has changed" in fault(after, RunRules(), status)


def test_what_is_not_about_clusters_still_ends_the_run() -> None:
    careful = ApplyStrategy(when_to_apply=WhenToApply.IF_NOT_DRIFTED)
    now = known(placement=PlacementFact(strategy_type="External", apply_strategy=careful))
    assert "the applyStrategy in the updateRun is outdated" in fault(now, BOTH)
    assert "parent placement not found" in fault(known(placement=None), BOTH)
    status = planned(known())
    status.stages_status[0].stage_name = "x"
    assert "stage name in the updateRun has changed" in fault(known(), BOTH, status)


def test_a_check_does_not_change_the_status() -> None:
    status = planned(known())
    before = status.model_copy(deep=True)
    check(known(bindings=without_b()), BOTH, status)
    assert status == before


# -- clusters in flight --------------------------------------------------------------------


def test_another_policy_rebinds_the_clusters_in_flight_that_have_the_content() -> None:
    status = planned(known())
    now = known(policies=[policy(name="web-1", index="1")])
    taken = known(bindings=[binding("a"), binding("b", since=NOW)], policies=now.policies)
    assert membership.rebound(known(), status, begun=["a", "b"]) == []
    assert membership.rebound(now, status, begun=["a"]) == ["a"]
    assert membership.rebound(taken, status, begun=["a", "b"]) == ["a"]
