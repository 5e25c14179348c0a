"""Clusters that leave or join a run in progress, where its rollout policy allows that."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest

from api.base import NamespacedName
from api.reasons import ConditionType
from api.rollout_decisions import Decision, DecisionState
from api.rollout_policies import OnAdded, OnRemoved, OnUnassigned
from api.rollout_reports import ClusterReport, PolicyField
from planning import conditions
from planning.overrides.matching import ClusterOverrides
from planning.runs.facts import ClusterFact
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules
from tests.planning.run_samples import APPROVAL, WAIT
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_hub import binding
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage
from tests.workflows.simulated.test_continue_as_new import LONG, lengthen

SOURCE = PolicyField(name="membership.removed", value="Skip", policy="p", generation=1)
BOTH = RunRules(removed=OnRemoved.SKIP, added=OnAdded.APPEND, fields=[SOURCE])
IGNORING = RunRules(added=OnAdded.IGNORE, fields=[SOURCE])

UNPICKED = "The placement no longer picks the cluster; the next run removes what it has"
MOVED_ON = (
    "The labels of the cluster match stage two now instead of stage one; the stages of the run "
    "stay as they were planned"
)
COMPLETED = "All stages are completed"
SEE = "see ClusterRolloutReport v2"
SUCCESS = "All stages are completed successfully"


def unpick(run: SimulatedRun, cluster: str) -> None:
    """Have the placement no longer pick a cluster."""
    run.hub.bindings[cluster] = binding(cluster, state="Unscheduled")
    run.changed()


def unbind(run: SimulatedRun, cluster: str) -> None:
    """Delete the binding of a cluster."""
    del run.hub.bindings[cluster]
    run.activities.notice(cluster)
    run.changed()


def relabel(run: SimulatedRun, cluster: str, stage: str) -> None:
    """Change the label of a cluster that decides about its stage."""
    run.hub.clusters[cluster] = ClusterFact(name=cluster, labels={"stage": stage})
    run.changed()


def join(run: SimulatedRun, cluster: str, stage: str) -> None:
    """Have the placement pick another cluster."""
    run.hub.clusters[cluster] = ClusterFact(name=cluster, labels={"stage": stage})
    run.hub.bindings[cluster] = binding(cluster)
    run.hub.done.discard(cluster)
    run.changed()


def end_of(run: SimulatedRun, cluster: str) -> tuple[str, str, str]:
    """Return status, reason and message of a cluster's condition Succeeded."""
    (entry,) = [
        each
        for one in run.status.stages_status
        for each in one.clusters
        if each.cluster_name == cluster
    ]
    found = conditions.find(entry.conditions, ConditionType.SUCCEEDED)
    return (found.status, found.reason, found.message) if found else ("", "", "")


def entry_of(run: SimulatedRun, cluster: str) -> ClusterReport:
    """Return what the run's report says about a cluster."""
    (entry,) = [each for each in run.hub.reports[-1].clusters if each.name == cluster]
    return entry


def reported(run: SimulatedRun) -> list[tuple[str, str, str]]:
    """Return name, outcome and reason of each cluster in the run's report."""
    found = run.hub.reports[-1].clusters
    return [(each.name, str(each.outcome), each.reason) for each in found]


def names(run: SimulatedRun, index: int = 0) -> list[str]:
    """Return the clusters of a stage of the status."""
    return [each.cluster_name for each in run.stage(index).clusters]


# -- leaving -------------------------------------------------------------------------------

Leave = Callable[[SimulatedRun, str], None]
LEAVES: dict[str, tuple[Leave, str]] = {
    "no longer picked": (unpick, UNPICKED),
    "without a binding": (
        unbind,
        "The cluster has no binding any more, or its binding is being deleted",
    ),
    "relabelled": (
        lambda run, cluster: relabel(run, cluster, "none"),
        "The labels of the cluster no longer match stage one",
    ),
    "of another stage": (
        lambda run, cluster: relabel(run, cluster, "two"),
        MOVED_ON,
    ),
}


@pytest.mark.parametrize(("leave", "message"), LEAVES.values(), ids=list(LEAVES))
def test_a_cluster_that_leaves_before_its_turn_is_not_updated(
    begin: Begin, leave: Leave, message: str
) -> None:
    run = begin(stage("one", "a", "b", "c"), stage("two", "x"), rules=BOTH)
    run.until_handed_out("a")
    leave(run, "b")
    run.wait(3)
    assert end_of(run, "b") == ("False", "ClusterLeft", message)
    run.report("a")
    run.until_handed_out("c")
    run.report("c")
    run.until_handed_out("x")
    run.report("x")
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunSucceeded"
    assert (
        outcome.message == "All stages are completed; 1 cluster left, see ClusterRolloutReport v2"
    )
    assert run.activities.handed_out == ["a", "c", "x"]
    assert reported(run) == [("b", "Left", "ClusterLeft")]
    assert entry_of(run, "b").message == message


@pytest.mark.parametrize(("leave", "message"), LEAVES.values(), ids=list(LEAVES))
def test_a_cluster_that_leaves_in_flight_frees_its_slot(
    begin: Begin, leave: Leave, message: str
) -> None:
    run = begin(stage("one", "a", "b"), stage("two", "x"), rules=BOTH)
    run.until_handed_out("a")
    leave(run, "a")
    run.until_handed_out("b")
    run.wait(1)
    assert end_of(run, "a") == ("False", "ClusterLeft", message)
    run.report("b")
    run.until_handed_out("x")
    run.report("x")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_another_run_cannot_be_blamed_for_a_cluster_that_left(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=BOTH)
    run.until_handed_out("a")
    unpick(run, "a")
    run.take("a")
    run.until_handed_out("b")
    assert end_of(run, "a")[1] == "ClusterLeft"


def test_a_cluster_that_leaves_after_its_update_stays_updated(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=BOTH)
    run.until_handed_out("a")
    run.report("a")
    run.until_handed_out("b")
    unpick(run, "a")
    run.wait(3)
    assert end_of(run, "a")[0] == "True"
    assert reported(run) == [("a", "Left", "ClusterLeft")]
    assert entry_of(run, "a").message == f"{UNPICKED}; it had been updated by then"
    run.report("b")
    assert run.outcome().message == SUCCESS


def test_clusters_may_leave_while_the_run_waits_at_a_gate(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", before_stage_tasks=[APPROVAL]), rules=BOTH)
    run.until_asked("v2-before-one")
    unpick(run, "a")
    run.wait(3)
    assert run.phase is Phase.WAITING
    assert end_of(run, "a")[1] == "ClusterLeft"
    run.approve("v2-before-one")
    run.until_handed_out("b")
    assert run.activities.handed_out == ["b"]


def test_what_happens_while_the_run_is_stopped_takes_effect_when_it_is_resumed(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", "b", "c"), rules=BOTH)
    run.until_handed_out("a")
    run.stop()
    run.report("a")
    run.until_phase(Phase.STOPPED)
    unpick(run, "b")
    join(run, "z", "one")
    run.wait(3600)
    assert end_of(run, "b")[1] == ""
    assert names(run) == ["a", "b", "c"]
    run.resume()
    run.until_handed_out("c")
    run.wait(1)
    assert end_of(run, "b")[1] == "ClusterLeft"
    run.report("c")
    run.until_handed_out("z")
    run.report("z")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_stop_ends_when_the_last_cluster_in_flight_leaves(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=BOTH)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    unpick(run, "a")
    run.until_phase(Phase.STOPPED)
    assert end_of(run, "a")[1] == "ClusterLeft"


def test_all_clusters_may_leave(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), stage("two", "c", after_stage_tasks=[WAIT]), rules=BOTH)
    run.until_handed_out("a")
    for cluster in ("a", "b", "c"):
        unpick(run, cluster)
    assert run.outcome().message == (
        "All stages are completed; 3 clusters left, see ClusterRolloutReport v2"
    )


def test_a_change_that_is_gone_at_the_second_look_does_not_count(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=BOTH)
    run.until_handed_out("a")
    before = run.hub.bindings["b"]
    unpick(run, "b")
    run.wait(0.5)
    run.hub.bindings["b"] = before
    run.wait(5)
    assert end_of(run, "b")[1] == ""
    run.report("a")
    run.until_handed_out("b")


def test_a_change_that_only_the_second_look_sees_is_looked_at_again(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", "d"), rules=BOTH)
    run.until_handed_out("a")
    unpick(run, "b")
    run.wait(0.5)
    run.hub.bindings["c"] = binding("c", state="Unscheduled")
    run.wait(5)
    assert [end_of(run, each)[1] for each in "bc"] == ["ClusterLeft", "ClusterLeft"]
    run.report("a")
    run.until_handed_out("d")


def test_a_failed_cluster_that_leaves_does_not_count_as_failed(begin: Begin) -> None:
    rules = BOTH.model_copy(update={"default": StageRules(timeout=timedelta(minutes=1), most=1)})
    run = begin(stage("one", "a", "b"), rules=rules)
    run.until_handed_out("b")
    run.wait(1)
    assert end_of(run, "a")[1] == "ClusterUpdatingTimedOut"
    unpick(run, "a")
    run.wait(3)
    assert end_of(run, "a")[1] == "ClusterLeft"
    run.report("b")
    assert run.outcome().message.endswith("1 cluster left, see ClusterRolloutReport v2")


def test_a_cluster_that_comes_back_is_updated_if_a_person_says_so(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=BOTH)
    run.until_handed_out("a")
    unpick(run, "a")
    run.until_handed_out("b")
    answer = run.hub.answers[run.decide(Decision.RETRY_CLUSTER, "a")]
    assert answer.state is DecisionState.REFUSED
    assert answer.message.startswith("cluster a has left the run; it can be retried once")
    run.hub.bindings["a"] = binding("a")
    run.wait(5)
    assert end_of(run, "a")[1] == "ClusterLeft"
    assert run.hub.answers[run.decide(Decision.RETRY_CLUSTER, "a")].state is DecisionState.COUNTED
    run.wait(2)
    run.report("a", "b")
    assert run.outcome().message == SUCCESS


def test_without_the_rule_a_cluster_that_leaves_ends_the_run(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=IGNORING)
    run.until_handed_out("a")
    unbind(run, "b")
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunFailed"
    assert "the number of clusters in index `0` stage has changed, new: 1" in outcome.message


# -- joining -------------------------------------------------------------------------------


def test_a_cluster_that_joins_before_its_stage_is_updated_last_in_it(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "m"), takes=60, rules=BOTH)
    run.until_handed_out("a")
    join(run, "b", "two")
    assert run.outcome().message == SUCCESS
    assert run.activities.handed_out == ["a", "m", "b"]
    assert names(run, 1) == ["m", "b"]
    assert reported(run) == [("b", "Joined", "ClusterJoined")]


def test_a_cluster_that_joins_during_its_stage_is_updated_last_in_it(begin: Begin) -> None:
    run = begin(stage("one", "b", "c"), takes=60, rules=BOTH)
    run.until_handed_out("b")
    join(run, "a", "one")
    assert run.outcome().message == SUCCESS
    assert run.activities.handed_out == ["b", "c", "a"]


def test_a_cluster_that_joins_as_its_stage_ends_is_updated(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "x"), rules=BOTH)
    run.until_handed_out("a")
    join(run, "b", "one")
    run.wait(0.02)
    run.report("a")
    run.until_handed_out("b")
    run.wait(1)
    assert "x" not in run.activities.handed_out
    run.report("b")
    run.until_handed_out("x")
    run.report("x")
    assert run.outcome().message == SUCCESS


def test_a_cluster_that_joins_after_its_stage_is_left_to_the_next_run(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "x"), rules=BOTH)
    run.until_handed_out("a")
    run.report("a")
    run.until_handed_out("x")
    join(run, "b", "one")
    run.wait(3)
    assert names(run) == ["a"]
    assert reported(run) == [("b", "NotUpdated", "ClusterJoinedTooLate")]
    run.report("x")
    assert run.outcome().message == SUCCESS


def test_a_cluster_that_joins_while_the_gates_after_its_stage_are_open_is_too_late(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[APPROVAL]), takes=5, rules=BOTH)
    run.until_asked("v2-after-one")
    join(run, "b", "one")
    run.wait(5)
    assert reported(run) == [("b", "NotUpdated", "ClusterJoinedTooLate")]
    run.approve("v2-after-one")
    assert run.outcome().message == SUCCESS
    assert run.activities.handed_out == ["a"]


def test_a_cluster_that_joins_at_the_gates_before_its_stage_is_updated(begin: Begin) -> None:
    run = begin(stage("one", "b", before_stage_tasks=[APPROVAL]), takes=5, rules=BOTH)
    run.until_asked("v2-before-one")
    join(run, "a", "one")
    run.wait(3)
    assert names(run) == ["b", "a"]
    run.approve("v2-before-one")
    assert run.outcome().message == SUCCESS
    assert run.activities.handed_out == ["b", "a"]


def test_a_stage_that_was_planned_empty_takes_clusters_until_it_is_skipped(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two"), stage("three", "x"), takes=30, rules=BOTH)
    run.until_handed_out("a")
    join(run, "b", "two")
    run.until_handed_out("x")
    assert run.activities.handed_out == ["a", "b", "x"]
    join(run, "c", "two")
    assert run.outcome().message == SUCCESS
    assert [each[:2] for each in reported(run)] == [("b", "Joined"), ("c", "NotUpdated")]


def test_ignored_clusters_are_listed_once_and_cost_nothing_more(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=IGNORING)
    run.until_handed_out("a")
    join(run, "z", "one")
    run.wait(5)
    assert reported(run) == [("z", "NotUpdated", "ClusterIgnored")]
    surveys, reports = run.activities.attempts["survey"], len(run.hub.reports)
    run.changed()
    run.wait(5)
    assert run.activities.attempts["survey"] == surveys + 1
    assert len(run.hub.reports) == reports
    run.report("a")
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().message == SUCCESS


def test_a_cluster_that_goes_as_it_came_is_not_listed_any_more(begin: Begin) -> None:
    run = begin(stage("one", "a"), rules=IGNORING)
    run.until_handed_out("a")
    join(run, "z", "one")
    run.wait(5)
    unbind(run, "z")
    run.wait(5)
    assert reported(run) == []


def test_a_joiner_without_a_stage_is_treated_as_the_policy_says(begin: Begin) -> None:
    run = begin(stage("one", "a"), rules=BOTH)
    run.until_handed_out("a")
    join(run, "z", "none")
    assert "clusters are not placed in any stage" in run.outcome().message

    rules = BOTH.model_copy(update={"unassigned": OnUnassigned.IGNORE})
    run = begin(stage("one", "a"), takes=60, rules=rules)
    run.until_handed_out("a")
    join(run, "z", "none")
    run.wait(5)
    assert reported(run) == [("z", "NotUpdated", "ClusterWithoutStage")]
    relabel(run, "z", "one")
    assert run.outcome().message == SUCCESS
    assert run.activities.handed_out == ["a", "z"]
    assert reported(run) == [("z", "Joined", "ClusterJoined")]


def test_joined_clusters_get_their_overrides(begin: Begin) -> None:
    run = begin(stage("one", "a"), takes=60, rules=BOTH)
    run.until_handed_out("a")
    named = NamespacedName(name="r-0", namespace="team")
    run.hub.overrides = [ClusterOverrides(cluster="b", cluster_resource=["c-0"], resource=[named])]
    join(run, "b", "one")
    assert run.outcome().message == SUCCESS
    desired = run.activities.written["b"].desired
    assert desired.cluster_resource_overrides == ["c-0"]
    assert run.stage().clusters[1].resource_override_snapshots == [named]


def test_the_limit_of_a_stage_stays_as_it_was_when_it_began(begin: Begin) -> None:
    run = begin(stage("one", *many(4), max_concurrency="50%"), takes=60, rules=BOTH)
    run.until_handed_out("member-0000")
    for number in range(6):
        join(run, f"z{number}", "one")
    assert run.outcome().message == SUCCESS
    assert run.activities.most_in_flight == 2


def test_a_pick_that_moves_is_one_that_leaves_and_one_that_joins(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), takes=60, rules=BOTH)
    counted = {"placement_type": "PickN", "cluster_count": "3", "index": "1", "name": "web-1"}
    run.until_handed_out("a")
    run.hub.policy = run.hub.policy.model_copy(update=counted)
    run.hub.bindings = {name: binding(name, policy="web-1") for name in ("a", "c", "d")}
    run.hub.bindings["b"] = binding("b", state="Unscheduled")
    run.hub.clusters["d"] = ClusterFact(name="d", labels={"stage": "one"})
    run.changed()
    assert run.outcome().message.startswith("All stages are completed; 1 cluster left")
    assert run.activities.handed_out == ["a", "c", "d"]
    assert [each[:2] for each in reported(run)] == [("b", "Left"), ("d", "Joined")]


def test_another_policy_takes_no_cluster_in_flight_from_the_run(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=BOTH)
    run.until_handed_out("a")
    run.wait(1)
    run.hub.policy = run.hub.policy.model_copy(update={"index": "1", "name": "web-1"})
    run.hub.bindings = {name: binding(name, policy="web-1") for name in ("a", "b")}
    run.take("a")
    run.hub.taken.clear()
    run.until(lambda: run.activities.handed_out == ["a", "a"], "it is handed out again")
    run.report("a")
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().message == SUCCESS


@pytest.mark.parametrize(
    ("rules", "fault"),
    [
        (RunRules(removed=OnRemoved.SKIP), "the number of clusters in index `0` stage has changed"),
        (RunRules(), "the number of clusters in index `0` stage has changed"),
    ],
    ids=["leaving only", "without a policy"],
)
def test_a_cluster_that_may_not_join_ends_the_run(
    begin: Begin, rules: RunRules, fault: str
) -> None:
    run = begin(stage("one", "a"), rules=rules)
    run.until_handed_out("a")
    join(run, "z", "one")
    assert fault in run.outcome().message


def test_clusters_join_a_paused_run(begin: Begin) -> None:
    rules = BOTH.model_copy(update={"default": StageRules(timeout=timedelta(minutes=1))})
    run = begin(stage("one", "a"), rules=rules)
    run.until_phase(Phase.PAUSED)
    join(run, "b", "one")
    run.wait(60)
    assert names(run) == ["a", "b"]
    assert run.activities.handed_out == ["a"]
    run.decide(Decision.CONTINUE)
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().message.startswith("All stages are completed; 1 cluster failed")


# -- what outlives a workflow --------------------------------------------------------------


def moved(run: SimulatedRun) -> None:
    """Have one cluster leave before its turn, one after it, and one join."""
    run.until_handed_out("a")
    run.report("a")
    run.until_handed_out("b")
    unpick(run, "a")
    unpick(run, "c")
    join(run, "z", "one")
    join(run, "y", "two")
    run.wait(5)


MOVED = [
    ("a", "Left", "ClusterLeft"),
    ("c", "Left", "ClusterLeft"),
    ("z", "Joined", "ClusterJoined"),
    ("y", "Joined", "ClusterJoined"),
]


@pytest.mark.parametrize("lost", ["worker", "temporal"])
def test_who_left_and_who_joined_outlives_the_loss_of(begin: Begin, lost: str) -> None:
    run = begin(
        stage("one", "a", "b", "c", "d"),
        stage("two", "x"),
        rules=BOTH,
        replays=lost == "worker",
    )
    moved(run)
    assert reported(run) == MOVED
    if lost == "worker":
        run.temporal.lose_worker()
    else:
        run.lose_temporal()
    run.wait(60)
    for cluster in ("b", "d", "z", "x", "y"):
        run.until_handed_out(cluster)
        run.report(cluster)
    outcome = run.outcome()
    assert (
        outcome.message == "All stages are completed; 1 cluster left, see ClusterRolloutReport v2"
    )
    assert reported(run) == MOVED


def test_a_cluster_that_leaves_while_temporal_is_away_is_skipped(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), stage("two", "x"), rules=BOTH, replays=False)
    run.until_handed_out("a")
    run.lose_temporal(away=30)
    unpick(run, "a")
    unpick(run, "x")
    join(run, "c", "one")
    run.until_handed_out("b")
    run.report("b")
    run.until_handed_out("c")
    run.report("c")
    assert run.outcome().message.startswith("All stages are completed; 2 clusters left")


def test_a_failed_cluster_that_leaves_while_temporal_is_away_is_skipped(begin: Begin) -> None:
    rules = BOTH.model_copy(update={"default": StageRules(timeout=timedelta(minutes=1), most=1)})
    run = begin(stage("one", "a", "b"), rules=rules, replays=False)
    run.until_handed_out("b")
    run.wait(1)
    run.lose_temporal(away=30)
    unbind(run, "a")
    run.wait(45)
    assert end_of(run, "a")[1] == "ClusterLeft"
    run.report("b")
    assert run.outcome().message == f"{COMPLETED}; 1 cluster left, {SEE}"


def test_a_cluster_that_joins_while_temporal_is_away_may_be_too_late(begin: Begin) -> None:
    gated = stage("one", "a", after_stage_tasks=[APPROVAL])
    run = begin(gated, takes=5, rules=BOTH, replays=False)
    run.until_asked("v2-after-one")
    run.lose_temporal(away=30)
    join(run, "b", "one")
    run.wait(60)
    assert reported(run) == [("b", "NotUpdated", "ClusterJoinedTooLate")]
    run.approve("v2-after-one")
    assert run.outcome().message == SUCCESS
    assert run.activities.handed_out == ["a"]


def test_a_new_execution_goes_on_with_those_that_joined(begin: Begin) -> None:
    run = begin(
        stage("one", *many(10), max_concurrency="30%"),
        stage("two", "x"),
        rules=BOTH,
        limits=LONG,
    )
    run.until_handed_out("member-0002")
    unpick(run, "member-0009")
    for number in range(30):
        join(run, f"z{number:02}", "one")
    run.wait(5)
    lengthen(run)
    run.until(lambda: len(run.temporal.executions) == 2, "it continues as new")
    unpick(run, "z29")
    run.activities.begun = lambda cluster: run.timeline.after(
        timedelta(seconds=5), lambda: run.report(cluster)
    )
    run.report("member-0000", "member-0001", "member-0002")
    outcome = run.outcome()
    assert (
        outcome.message == "All stages are completed; 2 clusters left, see ClusterRolloutReport v2"
    )
    assert run.activities.most_in_flight == 3
    assert len(run.updated) == 10 + 30 - 2 + 1
    assert Counter(outcome for _, outcome, _ in reported(run)) == {"Left": 2, "Joined": 29}
