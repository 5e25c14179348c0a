"""A restored hub that knows less than Temporal: which bindings show it, and the messages."""

from datetime import UTC, datetime, timedelta

import pytest

from api.bindings import Binding
from api.runs import UpdateRunStatus
from planning.errors import RunAborted
from planning.runs import marks, observing, restored
from planning.runs.restored import Ended
from tests.planning.run_samples import LATER, NOW, binding, facts, ledger, stage
from tests.support.conditions import AT, condition

EARLIER = NOW - timedelta(minutes=1)


def with_one_done() -> UpdateRunStatus:
    """Return a status in which cluster a is done and b in flight; both were started at NOW."""
    book = ledger(stage(max_concurrency=2))
    for position in (0, 1):
        marks.cluster_started(book, 0, position, NOW)
    marks.cluster_succeeded(book, 0, 0, LATER)
    return book.status


def test_an_updated_cluster_that_has_earlier_content_again_ends_the_run() -> None:
    found = facts(bindings=[binding("a", since=EARLIER), binding("b")])
    with pytest.raises(RunAborted) as raised:
        restored.check(found, status=with_one_done())
    assert str(raised.value) == (
        "cannot continue the updateRun: the hub was restored from a backup that is older than "
        "what this run has done: 1 updated cluster(s) have earlier content again (a); nothing "
        "was rolled out again; create a new run for the snapshot that the clusters should have"
    )


@pytest.mark.parametrize("since", [None, NOW, LATER], ids=["the run's", "at once", "later"])
def test_an_updated_cluster_that_was_changed_later_does_not_matter(since: datetime | None) -> None:
    found = facts(bindings=[binding("a", since=since), binding("b", since=EARLIER)])
    restored.check(found, status=with_one_done())


def test_a_cluster_in_flight_whose_binding_does_not_show_it_is_lost() -> None:
    found = facts(bindings=[binding("a", since=EARLIER), binding("b", since=LATER)])
    half_a_second = timedelta(milliseconds=500)
    begun = {"a": NOW + half_a_second, "b": NOW + half_a_second, "c": NOW}
    assert restored.lost(found, begun=begun) == ["a"]


def body(*, snapshot: str = "web-0-snapshot", announced: int | None = None) -> Binding:
    started = condition("RolloutStarted", generation=announced, at=AT)
    return Binding.from_wire(
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceBinding",
            "metadata": {
                "name": "web-a",
                "generation": 2,
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {
                "state": "Bound",
                "resourceSnapshotName": snapshot,
                "schedulingPolicySnapshotName": "web-0",
                "targetCluster": "a",
                "clusterDecision": {"clusterName": "a", "selected": True, "reason": ""},
            },
            "status": {"conditions": [started] if announced else []},
        }
    )


CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seen", "since"),
    [
        (body(snapshot="web-1-snapshot"), None),
        (body(announced=2), NOW),
        (body(), CREATED),
        (body(announced=1), None),
    ],
    ids=["the run's", "of an earlier run", "never rolled out", "changed by hand"],
)
def test_the_time_since_which_a_binding_has_other_content(
    seen: Binding, since: datetime | None
) -> None:
    assert observing.binding_fact(seen, content="web-1-snapshot").since == since
    assert observing.binding_fact(seen).since is None


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (
            Ended(how="succeeded", at=NOW),
            (
                "the hub was restored from a backup that is older than this run's end (Temporal: "
                "succeeded at 2026-01-02T03:04:05Z)"
            ),
        ),
        (
            Ended(how="terminated", at=NOW, by_itself=False),
            "the run's workflow was ended in Temporal (terminated at 2026-01-02T03:04:05Z)",
        ),
    ],
)
def test_a_run_that_has_ended_in_temporal_says_how_and_what_to_do(ended: Ended, text: str) -> None:
    assert restored.ended_text(ended) == (
        f"cannot continue the updateRun: {text}; nothing was rolled out again; create a new run "
        "for the snapshot that the clusters should have"
    )
