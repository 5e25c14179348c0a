"""Clusters that take too long are reported in the status, with one timer for all of them."""

import pytest

from planning.runs.phases import Phase
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import many, stage


def test_a_cluster_that_takes_too_long_is_stuck_until_it_is_done(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    begun_at = run.timeline.now
    run.until_phase(Phase.STUCK)
    assert 299 < (run.timeline.now - begun_at).total_seconds() < 301
    assert run.progressing.message == (
        "The updateRun is stuck waiting for a cluster(s) in stage one to finish updating, "
        "please check placement status for potential errors"
    )
    assert run.activities.handed_out == ["a"]

    run.report("a")
    run.until_phase(Phase.RUNNING)
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_cluster_within_the_limit_is_not_stuck(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=299)
    run.outcome()
    assert Phase.STUCK not in run.hub.phases


def test_stuck_clusters_are_named_in_the_order_of_the_stage(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", "b", "c", "d", "e", max_concurrency=5))
    run.activities.takes["update_cluster"] = 0.02
    run.until_handed_out("a", "b", "c", "d", "e")
    run.wait(100)
    run.report("b")
    run.until_phase(Phase.STUCK)
    assert "waiting for a, c, d... cluster(s)" in run.progressing.message
    run.report("c")
    run.wait(1)
    assert "waiting for a, d, e cluster(s)" in run.progressing.message


def test_a_cluster_that_started_later_gets_stuck_later(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", max_concurrency=2))
    run.until_handed_out("a", "b")
    run.wait(200)
    run.report("a")
    run.until_handed_out("c")
    run.until_phase(Phase.STUCK)
    assert "waiting for b cluster(s)" in run.progressing.message
    run.wait(190)
    assert "waiting for b cluster(s)" in run.progressing.message
    run.wait(20)
    assert "waiting for b, c cluster(s)" in run.progressing.message


def test_a_run_stays_stuck_while_one_cluster_is_even_if_others_are_done(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", max_concurrency=2))
    run.until_handed_out("a", "b")
    run.wait(299)
    run.report("b")
    run.until_handed_out("c")
    run.until_phase(Phase.STUCK)
    run.report("c")
    run.wait(10)
    assert run.phase is Phase.STUCK
    run.report("a")
    assert run.outcome().reason == "UpdateRunSucceeded"


@pytest.mark.parametrize("clusters", [1, 200])
def test_one_timer_is_enough_for_all_clusters_in_flight(begin: Begin, clusters: int) -> None:
    run = begin(stage("one", *many(clusters), max_concurrency=clusters))
    run.until_phase(Phase.STUCK)
    run.wait(60)
    timers = run.temporal.execution.history.by_type["TIMER_STARTED"]
    # One more, because the first write of the status waits until its decision is recorded.
    assert timers == 1 + 1


def test_clusters_that_start_and_end_need_no_timer_each(begin: Begin) -> None:
    run = begin(stage("one", *many(60)), takes=20)
    assert run.outcome().reason == "UpdateRunSucceeded"
    timers = run.temporal.execution.history.by_type["TIMER_STARTED"]
    assert timers <= 1 + 1 + 60 * 20 / 280


def test_a_stuck_run_stays_stuck_when_it_is_stopped_and_resumed(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_phase(Phase.STUCK)
    run.stop()
    run.wait(60)
    assert run.phase is Phase.STUCK
    run.resume()
    run.wait(60)
    assert run.phase is Phase.STUCK

    run.report("a")
    run.until_handed_out("b")
    run.until_phase(Phase.RUNNING)


def test_a_stop_is_not_complete_while_a_cluster_is_stuck(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STUCK)
    run.wait(3600)
    assert Phase.STOPPED not in run.hub.phases

    run.report("a")
    run.until_phase(Phase.STOPPED)
    assert run.activities.handed_out == ["a"]
