"""Rollout policies: time limits, further attempts, failure budgets, and what people decide then."""

from datetime import timedelta

import pytest

from api.reasons import ConditionType
from api.rollout_decisions import Decision, DecisionState
from api.rollout_policies import BudgetAction, OnUnassigned
from api.rollout_reports import PolicyField
from api.runs import RunState
from api.strategies import StageTask
from planning import conditions
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage
from tests.workflows.simulated.virtual_temporal import Update
from workflows.messages import Answer, Decide, Decided, TemporalApprovals

TIMEOUT = timedelta(minutes=20)
SOURCE = PolicyField(name="membership.unassigned", value="Ignore", policy="p", generation=1)


def limited(**fields: object) -> RunRules:
    """Return the rules of a policy with a time limit and these fields for stage `one`."""
    rules = StageRules.model_validate({"timeout": TIMEOUT, **fields})
    return RunRules(stages={"one": rules})


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


def test_a_cluster_that_takes_too_long_fails_and_frees_its_slot(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=limited(most=1))
    run.until_handed_out("a")
    begun_at = run.timeline.now
    run.until_handed_out("b")
    assert timedelta(0) <= run.timeline.now - begun_at - TIMEOUT < timedelta(seconds=1)
    run.wait(1)
    assert end_of(run, "a") == (
        "False",
        "ClusterUpdatingTimedOut",
        "The cluster was not updated within 20m",
    )
    run.report("b")
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunSucceeded"
    assert outcome.message == (
        "All stages are completed; 1 cluster failed, see ClusterRolloutReport v2"
    )


def test_without_a_time_limit_a_cluster_may_take_any_time(begin: Begin) -> None:
    run = begin(stage("one", "a"), rules=RunRules(stages={"one": StageRules(most=1)}))
    run.wait(86_400)
    assert run.phase is Phase.STUCK
    run.report("a")
    assert run.outcome().message == "All stages are completed successfully"


def test_a_cluster_is_tried_as_often_as_the_policy_says(begin: Begin) -> None:
    rules = limited(most=1, retries=2, retry_after=timedelta(minutes=1))
    run = begin(stage("one", "a"), rules=rules)
    run.until_handed_out("a")
    begun_at = run.timeline.now
    outcome = run.outcome()
    assert outcome.message.startswith("All stages are completed; 1 cluster failed")
    took = run.timeline.now - begun_at
    assert timedelta(minutes=62) <= took < timedelta(minutes=62, seconds=5)
    assert end_of(run, "a")[2] == "The cluster was not updated within 20m in any of 3 attempts"


def test_a_cluster_that_is_done_in_a_later_attempt_has_not_failed(begin: Begin) -> None:
    run = begin(stage("one", "a"), takes=25 * 60, rules=limited(retries=1))
    assert run.outcome().message == "All stages are completed successfully"
    assert end_of(run, "a")[0] == "True"


def test_a_late_recovery_gives_the_budget_back(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), rules=limited(most=1))
    run.until_handed_out("b")
    run.wait(60)
    run.report("a")
    run.wait(1)
    assert end_of(run, "a")[0] == "True"
    run.until_handed_out("c")
    run.report("c")
    outcome = run.outcome()
    assert outcome.message == (
        "All stages are completed; 1 cluster failed, see ClusterRolloutReport v2"
    )


@pytest.mark.parametrize("most", [0, "5%"])
def test_the_run_pauses_when_more_clusters_fail_than_may(begin: Begin, most: int | str) -> None:
    run = begin(stage("one", *many(10)), rules=limited(most=most))
    run.until_phase(Phase.PAUSED)
    assert run.progressing.reason == "UpdateRunPaused"
    assert run.progressing.message == (
        "The update run is paused because 1 of the 10 clusters of stage one failed and its rollout "
        "policy allows 0 (failures.most): member-0000; skip or retry them, then continue"
    )
    run.wait(86_400)
    assert run.activities.handed_out == ["member-0000"]


def test_clusters_in_flight_finish_before_the_run_pauses(begin: Begin) -> None:
    run = begin(stage("one", *many(10), max_concurrency=2), rules=limited(retries=1))
    run.until_handed_out("member-0000", "member-0001")
    run.wait(60)
    run.report("member-0001")
    run.until_handed_out("member-0002")
    run.until_phase(Phase.PAUSED)
    assert run.activities.in_flight <= {"member-0000", "member-0002"}
    assert end_of(run, "member-0002")[1] == "ClusterUpdatingTimedOut"
    assert "member-0003" not in run.activities.handed_out


def test_a_policy_may_end_the_run_instead(begin: Begin) -> None:
    run = begin(stage("one", *many(4)), rules=limited(action=BudgetAction.ABORT))
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunFailed"
    assert "1 of the 4 clusters of stage one failed" in outcome.message


def test_skipped_retried_and_continued_the_run_succeeds(begin: Begin) -> None:
    run = begin(stage("one", *many(4), max_concurrency=3), rules=limited())
    run.until_phase(Phase.PAUSED)
    for cluster in ("member-0000", "member-0001"):
        name = run.decide(Decision.SKIP_CLUSTER, cluster)
        assert run.hub.answers[name].state is DecisionState.COUNTED
    run.wait(1)
    assert end_of(run, "member-0000")[1:] == ("ClusterUpdatingSkipped", "Skipped by jane: INC-7")
    run.decide(Decision.RETRY_CLUSTER, "member-0002")
    run.wait(1)
    run.report("member-0002")
    run.wait(60)
    assert run.phase is Phase.PAUSED
    assert "member-0003" not in run.activities.handed_out
    run.decide(Decision.CONTINUE)
    run.until_handed_out("member-0003")
    run.report("member-0003")
    assert run.outcome().message == (
        "All stages are completed; 2 clusters were skipped, see ClusterRolloutReport v2"
    )


def test_stop_and_resume_continue_a_paused_run_too(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=limited())
    run.until_phase(Phase.PAUSED)
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.resume()
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().message.startswith("All stages are completed; 1 cluster failed")


def test_after_a_person_has_continued_it_the_next_failure_pauses_it_again(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), rules=limited())
    run.until_phase(Phase.PAUSED)
    run.decide(Decision.CONTINUE)
    run.until_handed_out("b")
    run.until(lambda: run.hub.phases.count(Phase.PAUSED) == 2, "it is paused again")
    assert "c" not in run.activities.handed_out


@pytest.mark.parametrize(
    ("decision", "cluster", "text"),
    [
        (Decision.CONTINUE, "", "run v2 is not paused by a rollout policy"),
        (Decision.SKIP_CLUSTER, "x", "cluster x is not in run v2"),
        (Decision.RETRY_CLUSTER, "b", "cluster b has neither failed nor been skipped"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(
    begin: Begin, decision: Decision, cluster: str, text: str
) -> None:
    run = begin(stage("one", "a", "b"), rules=limited())
    run.until_handed_out("a")
    answer = run.hub.answers[run.decide(decision, cluster)]
    assert answer.state is DecisionState.REFUSED
    assert answer.message.startswith(text)


def test_a_skipped_cluster_in_flight_or_ahead_is_not_waited_for(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), stage("two", "c", "d"))
    run.until_handed_out("a")
    for cluster in ("a", "c"):
        run.decide(Decision.SKIP_CLUSTER, cluster)
    run.until_handed_out("b")
    run.report("b")
    run.until_handed_out("d")
    run.report("d")
    assert run.outcome().message.startswith("All stages are completed; 2 clusters were skipped")
    assert run.activities.handed_out == ["a", "b", "d"]


def test_no_more_events_than_a_timer_where_nothing_fails(begin: Begin) -> None:
    plain = begin(stage("one", *many(60), max_concurrency=5), takes=20)
    plain.outcome()
    limits = begin(stage("one", *many(60), max_concurrency=5), takes=20, rules=limited(retries=1))
    limits.outcome()
    lengths = [each.temporal.execution.history.events for each in (plain, limits)]
    assert lengths[1] - lengths[0] <= 4


def test_the_report_lists_what_was_not_simply_updated(begin: Begin) -> None:
    run = begin(stage("one", *many(6), max_concurrency=3), rules=limited(most=1, retries=1))
    run.until_handed_out("member-0002")
    run.report("member-0002")
    run.until(lambda: len(run.hub.reports) > 0, "a report")
    run.wait(5 * 60)
    (first, *_) = run.hub.reports[-1].clusters
    assert (first.name, first.outcome, first.attempt) == ("member-0000", "Retrying", 2)
    run.report("member-0001")
    run.decide(Decision.SKIP_CLUSTER, "member-0005")
    run.until_handed_out("member-0004")
    run.report("member-0003", "member-0004")
    outcome = run.outcome()
    assert outcome.message == (
        "All stages are completed; 1 cluster failed and 1 was skipped, see ClusterRolloutReport v2"
    )
    report = run.hub.reports[-1]
    assert [(each.name, str(each.outcome), each.attempt, each.by) for each in report.clusters] == [
        ("member-0000", "Failed", 2, ""),
        ("member-0001", "Recovered", 2, ""),
        ("member-0003", "Recovered", 2, ""),
        ("member-0005", "Skipped", 1, "jane"),
    ]
    assert (report.failed, report.skipped) == (1, 1)
    assert [(each.name, each.failed, each.most) for each in report.stages] == [("one", 1, 1)]


@pytest.mark.parametrize("lost", ["worker", "temporal"])
def test_a_pause_outlives_the_loss_of(begin: Begin, lost: str) -> None:
    run = begin(stage("one", "a", "b", "c"), rules=limited(most=0), replays=lost == "worker")
    run.until_phase(Phase.PAUSED)
    if lost == "worker":
        run.temporal.lose_worker()
    else:
        run.lose_temporal()
    run.wait(3600)
    assert run.phase is Phase.PAUSED
    assert run.activities.handed_out == ["a"]
    run.decide(Decision.CONTINUE)
    run.until_handed_out("b")


def test_a_cluster_that_was_updated_while_it_was_skipped_is_done_once_it_is_retried(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", "b"), rules=limited())
    run.until_phase(Phase.PAUSED)
    run.decide(Decision.SKIP_CLUSTER, "a")
    run.report("a")
    run.wait(5)
    run.decide(Decision.RETRY_CLUSTER, "a")
    run.wait(5)
    assert run.phase is Phase.PAUSED
    assert end_of(run, "a")[0] == "True"


@pytest.mark.parametrize("lost", ["worker", "temporal"])
def test_what_happened_to_clusters_outlives_the_loss_of(begin: Begin, lost: str) -> None:
    rules = limited(most=1, retries=1)
    stages = stage("one", *many(4), max_concurrency=2), stage("two", "x")
    run = begin(*stages, rules=rules, replays=lost == "worker")
    run.until_handed_out("member-0001")
    run.until(lambda: run.told.count("ClusterRetried") == 2, "both are tried again")
    run.decide(Decision.SKIP_CLUSTER, "member-0003")
    run.report("member-0001")
    run.until_handed_out("member-0002")
    run.report("member-0002")
    run.until_handed_out("x")
    run.wait(5)
    before = run.hub.reports[-1].clusters
    if lost == "worker":
        run.temporal.lose_worker()
    else:
        run.lose_temporal()
    run.wait(60)
    run.report("x")
    run.outcome()
    assert run.hub.reports[-1].clusters == before
    assert [(each.name, str(each.outcome), each.attempt, each.by) for each in before] == [
        ("member-0000", "Failed", 2, ""),
        ("member-0001", "Recovered", 2, ""),
        ("member-0003", "Skipped", 1, "jane"),
    ]
    told = [each for each in run.told if each.startswith("Cluster")]
    assert sorted(told) == sorted(
        ["ClusterRetried", "ClusterRetried", "ClusterRecovered", "ClusterFailed", "ClusterSkipped"]
    ), "each is told once"


def test_a_cluster_in_a_later_attempt_stays_in_it_if_temporal_is_lost(begin: Begin) -> None:
    run = begin(stage("one", "a"), rules=limited(most=1, retries=1), replays=False)
    run.until(lambda: "ClusterRetried" in run.told, "it is tried again")
    begun_at = run.timeline.now
    run.lose_temporal()
    run.outcome()
    assert run.timeline.now - begun_at < TIMEOUT * 1.1
    assert end_of(run, "a")[2] == "The cluster was not updated within 20m in any of 2 attempts"


# -- events --------------------------------------------------------------------------------


def test_events_tell_what_happens_to_clusters_and_who_decided(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), rules=limited(retries=1))
    run.until_phase(Phase.PAUSED)
    run.decide(Decision.RETRY_CLUSTER, "a")
    run.wait(1)
    run.report("a")
    run.wait(60)
    assert run.progressing.message == (
        "The update run is paused until someone continues it: more clusters of stage one had "
        "failed than allowed (its rollout policy allows 0 (failures.most)); failed now: 0 of 3"
    )
    run.decide(Decision.SKIP_CLUSTER, "b")
    run.decide(Decision.CONTINUE)
    run.until_handed_out("c")
    run.report("c")
    run.outcome()
    told = [(str(each.type), each.reason, each.message) for each in run.hub.events]
    assert told[3:-1] == [
        ("Normal", "ClusterRetried", "Cluster a of stage one is tried again (attempt 2)"),
        (
            "Warning",
            "ClusterFailed",
            (
                "Cluster a of stage one has failed: The cluster was not updated within 20m in any "
                "of 2 attempts"
            ),
        ),
        (
            "Warning",
            "Paused",
            (
                "The update run is paused because 1 of the 3 clusters of stage one failed and its "
                "rollout policy allows 0 (failures.most): a; skip or retry them, then continue"
            ),
        ),
        (
            "Normal",
            "ClusterRetried",
            "Cluster a of stage one is tried again by jane (INC-7) (attempt 3)",
        ),
        ("Normal", "ClusterRecovered", "Cluster a of stage one was updated after all"),
        ("Normal", "ClusterSkipped", "Cluster b of stage one was skipped by jane (INC-7)"),
        (
            "Normal",
            "Continued",
            "The update run was continued by jane (INC-7), with the failures that there are",
        ),
    ]


def test_many_clusters_that_fail_at_once_share_an_event(begin: Begin) -> None:
    run = begin(stage("one", *many(20), max_concurrency="100%"), rules=limited(most="100%"))
    run.outcome()
    (failed,) = [each.message for each in run.hub.events if each.reason == "ClusterFailed"]
    assert failed == (
        "20 clusters of stage one have failed: member-0000, member-0001, member-0002..."
    )


# -- clusters in no stage ------------------------------------------------------------------


def test_a_cluster_in_no_stage_is_left_as_it_is_if_the_policy_says_so(begin: Begin) -> None:
    rules = RunRules(unassigned=OnUnassigned.IGNORE, fields=[SOURCE])
    run = begin(stage("one", "a"), stage("none", "x"), rules=rules, takes=10, without=("none",))
    assert run.outcome().message == "All stages are completed successfully"
    assert run.activities.handed_out == ["a"]
    (left,) = run.hub.reports[-1].clusters
    assert (left.name, left.stage, left.outcome) == ("x", "", "NotUpdated")


def test_more_than_the_policy_allows_cannot_be_left_out(begin: Begin) -> None:
    rules = RunRules(unassigned=OnUnassigned.IGNORE, unassigned_most="10%")
    run = begin(stage("one", *many(10)), stage("none", "x", "y"), rules=rules, without=("none",))
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunInitializedFailed"
    assert outcome.message.endswith(
        "2 of the 12 picked clusters are not placed in any stage, and the rollout policy ignores "
        "1 at most (membership.unassignedMost): x, y"
    )


# -- what the run waits for, and how long ---------------------------------------------------


def test_the_report_says_what_the_run_waits_for(begin: Begin) -> None:
    approval = [StageTask(type="Approval")]
    wait = StageTask(type="TimedWait", wait_time="30m")
    run = begin(
        stage("one", "a", "b", maxConcurrency=2),
        stage("two", "c", before_stage_tasks=approval, after_stage_tasks=[wait]),
        rules=RunRules(stages=limited().stages, fields=[SOURCE]),
        state=RunState.INITIALIZE,
    )
    run.until(lambda: bool(run.hub.reports), "a report")
    assert run.hub.reports[-1].waiting_for == "someone to start it"
    run.resume()
    run.until_handed_out("a")
    run.wait(1)
    assert run.hub.reports[-1].waiting_for == ""
    run.until_phase(Phase.STUCK)
    run.wait(1)
    assert run.hub.reports[-1].waiting_for == "stuck: a, b"
    run.until_phase(Phase.PAUSED)
    run.wait(1)
    assert run.hub.reports[-1].waiting_for == (
        "someone to skip or retry clusters, or to continue it"
    )
    run.decide(Decision.CONTINUE)
    request = f"{run.hub.run.name}-before-two"
    run.until_asked(request)
    assert run.hub.reports[-1].waiting_for == "approval before stage two"
    run.approve(request)
    run.until_handed_out("c")
    run.report("c")
    run.until_phase(Phase.WAITING)
    run.wait(1)
    assert run.hub.reports[-1].waiting_for == "wait of 30m after stage two"
    run.outcome()
    assert run.hub.reports[-1].waiting_for == ""


def test_the_report_says_when_the_run_is_likely_to_end(begin: Begin) -> None:
    wait = StageTask(type="TimedWait", wait_time="30m")
    run = begin(
        stage("one", "a", "b", after_stage_tasks=[wait]),
        stage("two", "c"),
        rules=RunRules(fields=[SOURCE]),
        takes=60,
        cluster_takes=timedelta(seconds=60),
    )
    run.until_handed_out("a")
    run.wait(1)
    begun_at = run.timeline.now
    expected = run.hub.reports[-1].expected_end
    assert expected is not None
    assert expected - begun_at == pytest.approx(timedelta(minutes=33), abs=timedelta(seconds=5))
    run.outcome()
    assert run.timeline.now - expected < timedelta(seconds=10)
    assert run.hub.reports[-1].expected_end is None


def test_without_earlier_runs_nothing_is_expected_before_a_cluster_is_done(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "b"), rules=RunRules(fields=[SOURCE]))
    run.until_handed_out("a")
    run.wait(60)
    assert run.hub.reports[-1].expected_end is None
    run.report("a")
    run.until_handed_out("b")
    run.wait(1)
    assert run.hub.reports[-1].expected_end is not None


def test_a_message_without_a_decision_on_the_hub_changes_nothing(begin: Begin) -> None:
    """Whoever can send messages through Temporal can name anybody."""
    run = begin(stage("one", "a", "b"), rules=limited())
    run.until_phase(Phase.PAUSED)
    run.signal("decided", Decided(name="forged", uid="uid-forged"))
    run.wait(60)
    assert run.phase is Phase.PAUSED
    assert not run.hub.answers
    # Nor does one with the UID of a decision and a wrong name hide that.
    run.signal("decided", Decided(name="forged", uid=f"uid-{run.hub.run.name}-1"))
    run.wait(60)
    run.decide(Decision.CONTINUE)
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().reason == "UpdateRunSucceeded"


# -- decisions made in Temporal alone --------------------------------------------------------


def decide(run: SimulatedRun, decision: str, cluster: str = "", reason: str = "INC-7") -> Update:
    """Send a decision as Temporal's command line does, which knows no users of the hub."""
    message = Decide(decision=decision, cluster=cluster, reason=reason, by="jane")
    return run.update("decide", message)


def test_a_decision_made_in_temporal_alone_counts_and_is_marked_as_such(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), rules=limited(most=0))
    run.until_phase(Phase.PAUSED)
    assert (
        decide(run, "SkipCluster", "a").result(Answer).text == "run v2 continues without cluster a"
    )
    assert decide(run, "Continue").result(Answer).text == "run v2 continues"
    run.until_handed_out("b")
    run.report("b")
    run.until_handed_out("c")
    run.report("c")
    assert run.outcome().message.startswith("All stages are completed; 1 cluster was skipped")
    who = "an unknown user of Temporal, who says: jane"
    assert end_of(run, "a")[2] == f"Skipped by {who}: INC-7"
    (listed,) = run.hub.reports[-1].clusters
    assert listed.by == who


@pytest.mark.parametrize(
    ("decision", "cluster", "reason", "refusal"),
    [
        ("Skip", "a", "why", "decision `Skip` is unknown; supported are Continue, SkipCluster, "),
        ("Approve", "", "why", "decision `Approve` is unknown"),
        ("SkipCluster", "a", " ", "decision SkipCluster needs a reason"),
        ("SkipCluster", "nosuch", "why", "cluster nosuch is not in run v2"),
        ("RetryCluster", "b", "why", "cluster b has neither failed nor been skipped"),
    ],
)
def test_a_decision_in_temporal_that_makes_no_sense_is_refused_and_leaves_no_trace(
    begin: Begin, decision: str, cluster: str, reason: str, refusal: str
) -> None:
    run = begin(stage("one", "a", "b"), rules=limited(most=0))
    run.until_phase(Phase.PAUSED)
    run.wait(1)
    before = run.temporal.events
    sent = decide(run, decision, cluster, reason)
    assert sent.accepted is False
    assert sent.failure.startswith(refusal)
    assert run.temporal.events == before


def test_decisions_in_temporal_can_be_refused_altogether(begin: Begin) -> None:
    refuse = TemporalApprovals.REFUSE
    run = begin(stage("one", "a", "b"), rules=limited(most=0), temporal_approvals=refuse)
    run.until_phase(Phase.PAUSED)
    assert decide(run, "Continue").failure.startswith(
        "decisions made in Temporal alone are refused"
    )
    assert run.phase is Phase.PAUSED
