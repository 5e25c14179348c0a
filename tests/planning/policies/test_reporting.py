"""What a run's report and its last message say about clusters that left or joined."""

import json

import pytest

from api.reasons import JoinReason, RunMessage
from api.rollout_policies import OnAdded, OnRemoved
from api.rollout_reports import ClusterOutcome, RolloutReportStatus
from api.runs import ClusterStatus
from planning.policies import reporting, texts
from planning.policies.reporting import Move, Setback
from planning.runs import marks
from planning.runs.ledger import Ledger
from planning.runs.membership import Departure, Leaver
from planning.runs.rules import NO_RULES, RunRules
from tests.planning.run_samples import LATER, NOW, ledger

REPORT = "ClusterRolloutReport v2"


def joined(name: str, reason: JoinReason = JoinReason.JOINED) -> tuple[str, Move]:
    outcome = ClusterOutcome.JOINED if reason is JoinReason.JOINED else ClusterOutcome.NOT_UPDATED
    return name, Move(outcome=outcome, stage="prod", reason=reason, message="why", since=NOW)


def left(name: str) -> tuple[str, Move]:
    return name, Move(
        outcome=ClusterOutcome.LEFT, stage="prod", reason="ClusterLeft", message="why", since=NOW
    )


def reported(
    book: Ledger, *moves: tuple[str, Move], setbacks: dict[str, Setback] | None = None
) -> RolloutReportStatus:
    return reporting.report(
        book.status, NO_RULES, setbacks=setbacks or {}, now=NOW, moves=dict(moves)
    )


def outcomes(report: RolloutReportStatus) -> list[tuple[str, str]]:
    return [(each.name, str(each.outcome)) for each in report.clusters]


def test_clusters_that_joined_too_late_come_after_those_of_the_plan() -> None:
    book = ledger()
    book.add_cluster(0, ClusterStatus(cluster_name="z"))
    marks.cluster_left(book, 0, 1, "why", NOW)
    found = reported(book, joined("y", JoinReason.TOO_LATE), joined("z"), left("b"))
    assert outcomes(found) == [("b", "Left"), ("z", "Joined"), ("y", "NotUpdated")]
    for each in found.clusters:
        assert (each.stage, each.message, each.since) == ("prod", "why", NOW)


def test_what_happens_to_a_joined_cluster_is_more_important_than_that_it_joined() -> None:
    book = ledger()
    marks.cluster_skipped(book, 0, 1, "Skipped by jane: INC-7", NOW)
    found = reported(book, joined("b"), setbacks={"b": Setback(since=LATER, by="jane")})
    assert outcomes(found) == [("b", "Skipped")]


def test_a_report_lists_as_many_clusters_as_fit_the_failed_ones_first() -> None:
    book, number = ledger(), 2_000
    marks.cluster_timed_out(book, 0, 1, "The cluster was not updated within 20m", NOW)
    moves = dict(joined(f"cluster-{each}", JoinReason.TOO_LATE) for each in range(number))
    found = reported(book, *moves.items(), setbacks={"b": Setback(since=NOW)})
    assert outcomes(found)[0] == ("b", "Failed")
    assert 500 < len(found.clusters) < number
    assert len(found.clusters) + found.not_listed == number + 1
    assert len(json.dumps(found.to_wire())) < 256 * 1024


def test_a_cluster_that_left_is_listed_even_if_nothing_else_is_known() -> None:
    book = ledger()
    marks.cluster_left(book, 0, 1, "why", NOW)
    (found,) = reported(book).clusters
    assert (found.name, found.outcome, found.reason) == ("b", "Left", "ClusterLeft")


def test_a_report_says_who_left_and_who_joined() -> None:
    book = ledger()
    book.add_cluster(0, ClusterStatus(cluster_name="z"))
    marks.cluster_left(book, 0, 1, "why", NOW)
    marks.cluster_skipped(book, 0, 0, "why", NOW)
    moves = dict([left("b"), joined("z"), joined("y", JoinReason.IGNORED)])
    report = reported(book, *moves.items())
    assert reporting.remembered(RolloutReportStatus.from_wire(report.to_wire())).moves == moves


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ("", RunMessage.SUCCEEDED),
        ("l", f"All stages are completed; 1 cluster left, see {REPORT}"),
        ("ll", f"All stages are completed; 2 clusters left, see {REPORT}"),
        ("fl", f"All stages are completed; 1 cluster failed and 1 left, see {REPORT}"),
        ("ss", f"All stages are completed; 2 clusters were skipped, see {REPORT}"),
        (
            "fffsll",
            f"All stages are completed; 3 clusters failed, 1 was skipped and 2 left, see {REPORT}",
        ),
    ],
)
def test_a_run_that_succeeds_counts_the_clusters_that_it_went_without(ends: str, text: str) -> None:
    book = ledger()
    mark = {"f": marks.cluster_timed_out, "s": marks.cluster_skipped, "l": marks.cluster_left}
    for position, each in enumerate(ends):
        if position >= len(book.stage(0).clusters):
            book.add_cluster(0, ClusterStatus(cluster_name=f"z{position}"))
        mark[each](book, 0, position, "why", NOW)
    assert texts.succeeded(book.status, report=REPORT) == text


@pytest.mark.parametrize("how", Departure)
@pytest.mark.parametrize("other", ["", "dev"])
def test_each_way_to_leave_has_its_words(how: Departure, other: str) -> None:
    leaver = Leaver(cluster="b", stage="prod", how=how, other=other)
    assert texts.left_updated(leaver).startswith(texts.left(leaver))


@pytest.mark.parametrize("reason", JoinReason)
def test_each_way_to_join_has_its_words(reason: JoinReason) -> None:
    assert texts.joined(reason, stage="prod")


def test_the_rules_about_clusters_that_leave_or_join_are_a_sentence() -> None:
    assert texts.membership(NO_RULES) == ""
    rules = RunRules(removed=OnRemoved.SKIP, added=OnAdded.APPEND)
    assert texts.membership(rules) == (
        "clusters that leave are skipped; clusters that join are added at the end of their stage"
    )
