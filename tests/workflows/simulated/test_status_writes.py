"""Mirroring the status: one write at a time, with everything that has changed until then."""

import json
import random

import pytest

from api.runs import RunState
from planning.runs.ledger import MOST_OPERATIONS
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import many, stage

WHOLE = ["/status"]


def clusters_of(paths: list[str]) -> list[str]:
    return [path for path in paths if "/clusters/" in path]


@pytest.mark.parametrize("seed", range(3))
def test_there_is_never_more_than_one_write_at_a_time(begin: Begin, seed: int) -> None:
    draw = random.Random(seed)
    run = begin(
        stage("one", *many(40), max_concurrency="50%"), takes=lambda _: draw.uniform(0.1, 5)
    )
    run.activities.takes["write_status"] = 0.3
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert len(run.activities.writes) > 10
    assert run.activities.most_writes_at_once == 1


def test_changes_during_a_write_go_together_in_the_next_one(begin: Begin) -> None:
    run = begin(stage("one", *many(10), max_concurrency=10))
    run.until_handed_out(*many(10))
    run.wait(5)
    run.activities.takes["write_status"] = 5
    writes = len(run.activities.writes)
    for cluster in many(9):
        run.report(cluster)
        run.wait(0.5)
    run.wait(20)
    first, second = run.activities.writes[writes:]
    assert len(clusters_of(first.paths)) == 1
    assert len(clusters_of(second.paths)) == 8


def test_a_write_contains_only_changes_and_the_whole_status_is_written_once(begin: Begin) -> None:
    run = begin(stage("one", *many(20)), takes=10)
    run.outcome()
    first, *others = run.activities.writes
    assert first.paths == WHOLE
    assert first.local, "history keeps only the result of a local activity"
    assert WHOLE not in [each.paths for each in others]
    assert max(len(clusters_of(each.paths)) for each in others) == 2


def test_many_changes_are_split_into_several_writes(begin: Begin) -> None:
    count = MOST_OPERATIONS * 5 // 2
    run = begin(stage("one", *many(count), max_concurrency=count))
    run.until_handed_out(*many(count))
    run.wait(5)
    assert max(len(each.paths) for each in run.activities.writes) == MOST_OPERATIONS
    assert all(each.conditions for each in run.stage().clusters)


def test_the_plan_is_visible_before_anything_is_done(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.activities.takes["write_status"] = 3
    seen: list[list[Phase]] = []
    run.activities.begun = lambda _: seen.append(list(run.hub.phases))
    run.until(lambda: bool(seen), "the binding is written")
    assert seen == [[Phase.PLANNED]]


def test_there_is_a_pause_after_a_write_unless_there_is_more_to_write(begin: Begin) -> None:
    run = begin(stage("one", *many(3 * MOST_OPERATIONS), max_concurrency="100%"))
    run.until_handed_out(*many(3 * MOST_OPERATIONS))
    run.wait(5)
    rests = [each.rest for each in run.activities.writes if len(each.paths) > 1]
    assert len(rests) > 2
    assert not any(rests[:-1])
    assert rests[-1]


# -- writes by others ----------------------------------------------------------------------


def test_a_status_that_someone_edits_is_restored(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=60)
    run.until_handed_out("b")
    run.wait(5)
    before = json.dumps(run.hub.body, sort_keys=True)
    run.edit_status()
    assert run.hub.body == {}
    run.wait(5)
    assert json.dumps(run.hub.body, sort_keys=True) == before
    assert run.activities.writes[-1].paths == WHOLE
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_the_whole_status_is_written_after_a_conflict_with_another_write(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", "b"), takes=60)
    run.until_handed_out("a")
    run.wait(5)
    run.hub.version += 1
    run.until_handed_out("b")
    run.wait(5)
    assert run.updated == ["a"]
    assert run.activities.writes[-1].paths == WHOLE


def test_a_status_that_is_edited_before_the_run_is_planned_is_not_restored(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), state=RunState.INITIALIZE)
    run.activities.takes["survey"] = 5
    run.wait(0.1)
    run.signal("restore")
    run.wait(1)
    assert run.activities.attempts["write_status"] == 0


def test_all_conditions_are_written_again_after_a_new_state_on_the_hub(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", before_stage_tasks=[APPROVAL]))
    run.until_asked("v2-before-one")
    writes = len(run.activities.writes)
    run.stop()
    run.until_phase(Phase.STOPPED)
    assert WHOLE in [each.paths for each in run.activities.writes[writes:]]
    assert {each.observed_generation for each in run.status.conditions} == {2}


# -- an unreachable hub --------------------------------------------------------------------


def test_a_whole_status_is_written_by_a_normal_activity_if_the_hub_is_unreachable(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), takes=10)
    run.activities.fail("write_status", attempts=5)
    run.until_phase(Phase.PLANNED)
    assert [each.local for each in run.activities.writes] == [False]
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_message_is_handled_while_a_whole_status_cannot_be_written(begin: Begin) -> None:
    run = begin(stage("one", "a"), takes=10)
    run.activities.fail("write_status", attempts=30)
    run.wait(20)
    sent = run.temporal.send_update("pause")
    run.wait(1)
    assert sent.is_over
    run.until_phase(Phase.STOPPED)
    assert run.activities.handed_out == []


def test_clusters_start_and_end_while_no_status_can_be_written(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), takes=10)
    run.until_handed_out("a")
    run.wait(1)
    run.activities.fail("write_status", attempts=100)
    run.until_handed_out("c")
    assert run.updated == []
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.updated == ["a", "b", "c"]
