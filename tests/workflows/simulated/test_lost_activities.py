"""Activities that fail, are lost with their worker, or cannot reach the hub."""

from datetime import timedelta

import pytest

from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import stage
from workflows.calls import LOST_AFTER


def test_clusters_that_finish_while_there_is_no_follower_are_noticed(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.wait(5)
    run.temporal.lose_worker()
    lost_at = run.timeline.now
    run.report("a")
    run.until_handed_out("b")
    assert run.activities.attempts["follow_bindings"] == 2
    assert LOST_AFTER < run.timeline.now - lost_at < LOST_AFTER + timedelta(seconds=1.5)


def test_a_status_write_that_is_lost_with_its_worker_is_soon_retried(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.wait(5)
    run.activities.takes["write_status"] = 1
    run.report("a")
    run.wait(0.5)
    assert run.updated == []
    run.temporal.lose_worker()
    run.wait(LOST_AFTER.total_seconds() + 2)
    assert run.updated == ["a"]


def test_a_binding_is_written_by_another_worker_if_the_first_one_dies_before_writing_it(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), takes=10)
    run.activities.takes["update_cluster"] = 1
    run.until(lambda: run.activities.attempts["update_cluster"] == 1, "the cluster has its turn")
    run.temporal.lose_worker()
    assert run.activities.written == {}
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.written["a"].binding == "web-a"


@pytest.mark.parametrize(
    "activity",
    [
        "survey",
        "find_snapshot",
        "write_status",
        "update_cluster",
        "open_approval",
        "accept_approval",
        "follow_bindings",
    ],
)
def test_a_hub_that_is_unreachable_for_a_minute_only_delays_the_run(
    begin: Begin, activity: str
) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]), stage("two", "b"), takes=10)
    run.activities.fail(activity, attempts=15)
    run.until_asked("v2-before-one")
    run.approve("v2-before-one")
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.faults[activity].attempts == 0
    assert run.updated == ["a", "b"]


def test_a_removal_that_the_hub_refuses_is_retried(begin: Begin) -> None:
    run = begin(stage("one", "a"), leaving=("x",), takes=10)
    run.activities.fail("remove_cluster", attempts=15)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.attempts["remove_cluster"] == 16


def test_an_approval_by_update_waits_until_the_hub_has_it(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.until_asked("v2-before-one")
    run.activities.fail("record_approval", attempts=3)
    sent = run.temporal.send_update("approve")
    run.wait(0.5)
    assert sent.accepted
    assert not sent.is_over
    assert run.activities.handed_out == []
    run.until(lambda: sent.is_over, "the update is answered")
    assert sent.failure == ""
    run.until_handed_out("a")


# -- events are best effort, and nothing depends on them ------------------------------------


def test_a_run_succeeds_even_if_its_events_cannot_be_written(
    begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    run = begin(stage("one", "a"), takes=10)
    run.activities.fail("record_events", attempts=1000)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.hub.events == []
    assert "events dropped: Initialized" in caplog.text


def test_events_that_cannot_be_written_delay_only_the_end_and_not_for_long(
    begin: Begin,
) -> None:
    ends = []
    for failing in (0, 1000):
        run = begin(stage("one", "a", "b"), takes=10)
        run.activities.fail("record_events", attempts=failing)
        run.until_phase(Phase.SUCCEEDED)
        said_at = run.timeline.now
        run.outcome()
        ends.append((said_at, run.timeline.now - said_at))
    assert ends[0][0] == ends[1][0]
    assert ends[1][1] < timedelta(seconds=20)


def test_an_approval_without_an_approval_request_passes_no_gate(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.until_asked("v2-before-one")
    del run.hub.approvals["v2-before-one"]
    run.signal("approve")
    run.wait(60)
    assert run.activities.handed_out == []
    assert run.phase is Phase.WAITING
