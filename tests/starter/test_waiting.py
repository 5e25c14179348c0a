"""What a command prints after starting, stopping or approving; the runs were recorded."""

from datetime import timedelta

import pytest

from planning.runs import views
from planning.runs.views import RunView
from starter.run import waiting
from tests.starter.test_views import recorded, seen

UNDER_WAY = {
    "planned": False,
    "stopped": False,
    "stopped-at-gate": False,
    "first-cluster-in-flight": True,
    "timed-wait": True,
    "approval-before-canary": True,
    "stuck": True,
    "succeeded": True,
    "initialization-failed": True,
    "preempted": True,
}


def view(moment: str) -> RunView:
    return seen(moment)[0]


def said(before: str, after: str) -> list[str]:
    now = max(each.last_transition_time for each in view(after).conditions) + timedelta(seconds=7)
    return list(waiting.going(view(before), view(after), now))


@pytest.mark.parametrize(("moment", "under_way"), UNDER_WAY.items())
def test_a_run_is_under_way_once_there_is_something_to_show(moment: str, under_way: bool) -> None:
    assert waiting.is_under_way(view("planned"), view(moment)) is under_way


def test_a_run_that_is_queued_is_shown_at_once() -> None:
    run = recorded("first-cluster-in-flight")
    for stage in run.status.stages_status:
        for cluster in stage.clusters:
            cluster.conditions = []
    (progressing,) = [each for each in run.status.conditions if each.type == "Progressing"]
    progressing.reason = "UpdateRunQueued"
    assert waiting.is_under_way(view("planned"), views.of(run))


def test_a_status_from_before_the_request_shows_nothing_yet() -> None:
    run = recorded("first-cluster-in-flight")
    run.metadata.generation += 1
    assert not waiting.is_under_way(view("planned"), views.of(run))
    stopped = recorded("stopped")
    assert waiting.has_stopped(views.of(stopped))
    stopped.metadata.generation += 1
    assert not waiting.has_stopped(views.of(stopped))


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("planned", "first-cluster-in-flight", ["stage staging begins: member2"]),
        (
            "planned",
            "stuck",
            [
                "stage staging begins: member2",
                "stuck at member2 in stage staging",
                "  fleetgate run explain stuck-run -n my-app",
            ],
        ),
        ("first-cluster-in-flight", "timed-wait", ["waiting for 13s more after stage staging"]),
        (
            "timed-wait",
            "approval-before-canary",
            [
                "waiting for approval before stage canary",
                "  fleetgate approve example-run canary --before",
            ],
        ),
        ("stopped", "succeeded", ["stage canary continues: member1", "succeeded after 74s"]),
    ],
)
def test_what_is_new_is_printed(before: str, after: str, lines: list[str]) -> None:
    assert said(before, after) == lines


def test_how_far_a_stopped_run_got_is_printed() -> None:
    stopped, now = seen("stopped")
    assert waiting.stopped(stopped, now) == "stopped; 2 of 3 clusters are done"
    ended, now = seen("succeeded")
    assert " ended before it could stop: succeeded" in waiting.stopped(ended, now)
