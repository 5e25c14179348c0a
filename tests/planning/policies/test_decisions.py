"""Which decisions can be carried out, and what is said about the others (policies: 2.3, 3)."""

from collections.abc import Callable

import pytest

from api.rollout_decisions import Decision
from planning.policies import decisions
from planning.runs import marks
from planning.runs.ledger import DELETION, Ledger
from tests.planning.run_samples import NOW, ledger, stage

SKIP, RETRY, CONTINUE = Decision.SKIP_CLUSTER, Decision.RETRY_CLUSTER, Decision.CONTINUE


def run() -> Ledger:
    """Return the status of a run that updates `a` and `b` in one stage, `c` in the next."""
    book = ledger(stage("one"), stage("two", "other"), leaving=("x",), others=("c",))
    marks.run_initialized(book, NOW)
    marks.run_progressing(book, NOW)
    marks.stage_started(book, 0, NOW)
    return book


def ahead(_: Ledger) -> None:
    """Leave the cluster as it is."""


def in_flight(book: Ledger) -> None:
    marks.cluster_started(book, 0, 0, NOW)


def updated(book: Ledger) -> None:
    in_flight(book)
    marks.cluster_succeeded(book, 0, 0, NOW)


def failed(book: Ledger) -> None:
    in_flight(book)
    marks.cluster_timed_out(book, 0, 0, "too long", NOW)


def skipped(book: Ledger) -> None:
    marks.cluster_skipped(book, 0, 0, "by jane", NOW)


def retried(book: Ledger) -> None:
    failed(book)
    marks.cluster_retried(book, 0, 0, "by jane", NOW)


def retried_in_flight(book: Ledger) -> None:
    retried(book)
    in_flight(book)


def refusal(
    decision: Decision,
    book: Ledger,
    cluster: str = "a",
    *,
    updating: int | None = 0,
    stuck: tuple[str, ...] = (),
) -> str:
    found = decisions.refusal(
        decision,
        book.status,
        run="v2",
        cluster=cluster,
        updating=updating,
        paused=False,
        stuck=stuck,
    )
    return found or ""


@pytest.mark.parametrize(
    ("decision", "before", "text"),
    [
        (SKIP, ahead, ""),
        (SKIP, in_flight, ""),
        (SKIP, failed, ""),
        (SKIP, retried, ""),
        (SKIP, retried_in_flight, ""),
        (SKIP, updated, "cluster a is updated already"),
        (SKIP, skipped, "cluster a was skipped already"),
        (RETRY, failed, ""),
        (RETRY, skipped, ""),
        (RETRY, updated, "cluster a is updated already"),
        (RETRY, retried, "cluster a is about to be handed out again already"),
        (RETRY, retried_in_flight, "cluster a has neither failed nor been skipped, and is not"),
        (RETRY, in_flight, "cluster a has neither failed nor been skipped, and is not"),
        (RETRY, ahead, "cluster a has neither failed nor been skipped, and is not"),
    ],
)
@pytest.mark.parametrize("over", [False, True], ids=["while its stage runs", "after its stage"])
def test_what_can_be_decided_about_a_cluster(
    decision: Decision, before: Callable[[Ledger], None], text: str, over: bool
) -> None:
    book = run()
    before(book)
    if over:
        marks.stage_succeeded(book, 0, NOW)
        marks.stage_started(book, 1, NOW)
    found = refusal(decision, book)
    assert found.startswith(text)
    assert bool(found) == bool(text)


def test_a_stuck_cluster_may_be_tried_again() -> None:
    book = run()
    in_flight(book)
    assert refusal(RETRY, book, stuck=("a",)) == ""


def test_an_ended_run_says_what_to_do_instead() -> None:
    book = run()
    marks.run_failed(book, "no", NOW)
    assert refusal(CONTINUE, book) == "run v2 has ended and cannot be changed; create a new run"
    assert refusal(RETRY, book) == (
        "run v2 has ended and cannot be changed; `fleetgate run retry v2 --failed` creates a new "
        "run of the same version"
    )


def test_a_cluster_of_another_run_is_not_decided_about() -> None:
    assert refusal(SKIP, run(), "z") == "cluster z is not in run v2"


def test_a_removal_is_tried_again_only_while_clusters_are_removed() -> None:
    book = run()
    assert refusal(SKIP, book, "x") == ""
    marks.cluster_skipped(book, DELETION, 0, "by jane", NOW)
    assert refusal(RETRY, book, "x", updating=DELETION) == ""
    assert refusal(RETRY, book, "x").startswith("cluster x is no longer picked")
