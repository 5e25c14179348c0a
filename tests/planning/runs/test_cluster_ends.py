"""What becomes of a cluster: when it counts as stuck, and how its update ends."""

from datetime import timedelta

import pytest

from planning.runs import cluster_ends
from planning.runs.cluster_ends import STEPS, ClusterEnd
from tests.planning.run_samples import NOW

LIMIT = timedelta(minutes=5)
STEP = LIMIT / STEPS
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("preempted", "gone", "forgotten", "end"),
    [
        (False, False, False, ClusterEnd.UPDATED),
        (True, False, False, ClusterEnd.PREEMPTED),
        (True, True, False, ClusterEnd.PREEMPTED),
        (True, False, True, ClusterEnd.LOST),
        (False, True, False, ClusterEnd.LOST),
    ],
)
def test_how_an_update_ends(preempted: bool, gone: bool, forgotten: bool, end: ClusterEnd) -> None:
    assert cluster_ends.judge(preempted=preempted, gone=gone, forgotten=forgotten) is end


def test_a_cluster_is_overdue_from_the_limit_on_in_the_order_of_the_stage() -> None:
    begun = {"a": NOW, "b": NOW - LIMIT, "c": NOW - 2 * LIMIT, "d": NOW - LIMIT + MINUTE}
    order = ["d", "c", "b", "a", "waiting"]
    assert cluster_ends.overdue(begun, order=order, limit=LIMIT, now=NOW) == ["c", "b"]


def test_the_first_cluster_in_flight_is_the_next_to_become_overdue() -> None:
    begun = {"a": NOW + MINUTE, "b": NOW}
    due = cluster_ends.next_overdue(begun, known=(), reported=None, limit=LIMIT)
    assert due == NOW + LIMIT


def test_with_no_other_cluster_in_flight_nothing_becomes_overdue() -> None:
    assert cluster_ends.next_overdue({}, known=(), reported=None, limit=LIMIT) is None
    due = cluster_ends.next_overdue({"a": NOW}, known={"a"}, reported=NOW, limit=LIMIT)
    assert due is None


@pytest.mark.parametrize(("later", "due"), [(STEP / 2, STEP), (2 * STEP, 2 * STEP)])
def test_while_some_are_stuck_others_are_reported_in_steps(
    later: timedelta, due: timedelta
) -> None:
    begun = {"a": NOW - LIMIT, "b": NOW - LIMIT + later}
    assert cluster_ends.next_overdue(begun, known={"a"}, reported=NOW, limit=LIMIT) == NOW + due
