"""Estimates of the time left, from a run's own clusters or those of earlier runs."""

from datetime import timedelta

import pytest

from api.reasons import RunReason
from planning.runs import estimating
from starter import words
from tests.starter.made_runs import NOW, MadeStage, made_run


def left(
    *stages: MadeStage, earlier: int | None = None, reason: str = RunReason.PROGRESSING
) -> str:
    """Return the estimate of a run; `earlier` is the seconds that a cluster took in another."""
    run = made_run(*stages, reason=reason)
    known = [] if earlier is None else [timedelta(seconds=earlier)]
    return words.left(estimating.estimate(run.status, now=NOW, earlier=known))


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (MadeStage(took=[20], ahead=2), "about 40s"),
        (MadeStage(took=[20], in_flight=[5], ahead=1), "about 35s"),
        (MadeStage(took=[20], in_flight=[500], ahead=1), "about 20s"),
        (MadeStage(took=[20], ahead=9, at_once=3), "about 60s"),
        (MadeStage(took=[20], ahead=10, at_once=3), "about 80s"),
        (MadeStage(took=[20] * 50, ahead=50, at_once="25%"), "about 40s"),
        (MadeStage(took=[60], ahead=10), "about 10 min"),
        (MadeStage(took=[600], ahead=15), "about 2.5 h"),
        (MadeStage(took=[0, 1], ahead=3), "a few seconds"),
    ],
)
def test_clusters_ahead_take_as_long_as_those_that_are_done(stage: MadeStage, text: str) -> None:
    assert left(stage) == text


def test_a_cluster_that_was_stuck_for_a_night_does_not_count() -> None:
    assert left(MadeStage(took=[20] * 9 + [30_000], ahead=2)) == "about 40s"


def test_stages_follow_each_other() -> None:
    assert left(MadeStage(took=[20, 20]), MadeStage(ahead=1), MadeStage(ahead=4)) == "about 2 min"


def test_waits_and_approvals_ahead_are_named() -> None:
    first = MadeStage(took=[20], ahead=1, wait="1m", approvals=2, approved=1)
    assert left(first, MadeStage(ahead=1, approvals=1)) == "about 2 min plus 2 approvals"


def test_of_a_started_wait_only_the_rest_counts() -> None:
    assert left(MadeStage(took=[20], wait="31s"), reason=RunReason.WAITING) == "about 30s"


def test_gates_of_a_stage_without_clusters_do_not_count() -> None:
    assert left(MadeStage(took=[20], ahead=1), MadeStage(wait="1h", approvals=2)) == "about 20s"


def test_until_a_cluster_is_done_earlier_runs_count() -> None:
    stages = (MadeStage(in_flight=[1], ahead=1), MadeStage(ahead=2, approvals=1))
    assert left(*stages) == "unknown until a cluster is done, plus 1 approval"
    assert left(*stages, earlier=10) == "about 40s plus 1 approval"
    assert left(MadeStage(took=[20], ahead=1), earlier=600) == "about 20s"


def test_there_is_no_estimate_if_nothing_is_known_or_left() -> None:
    assert left(MadeStage(took=[20], in_flight=[900]), reason=RunReason.STUCK) == ""
    assert left(MadeStage(took=[20])) == ""
    assert left(MadeStage(took=[20], approvals=2, approved=1)) == "1 approval"
