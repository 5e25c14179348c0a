"""The phase of a run, and its current stage."""

from api.runs import UpdateRunStatus
from planning.runs import marks, phases
from planning.runs.ledger import DELETION, Ledger
from planning.runs.phases import Phase
from tests.planning.run_samples import NOW, ledger, stage


def at(book: Ledger) -> tuple[Phase, str]:
    return phases.phase(book.status), phases.stage_name(book.status)


def test_before_its_plan_a_run_is_pending_and_at_no_stage() -> None:
    assert at(Ledger(UpdateRunStatus(), generation=1)) == (Phase.PENDING, "")


def test_a_run_that_cannot_be_planned_has_failed_at_no_stage() -> None:
    book = Ledger(UpdateRunStatus(), generation=1)
    marks.run_not_initialized(book, "why", NOW)
    assert at(book) == (Phase.FAILED, "")


def test_a_run_is_at_each_of_its_stages_in_turn() -> None:
    book = ledger(stage("one"), stage("two", "dev"), leaving=("c",))
    marks.run_initialized(book, NOW)
    assert at(book) == (Phase.PLANNED, "one")
    marks.run_progressing(book, NOW)
    assert at(book) == (Phase.RUNNING, "one")
    marks.waiting(book, 0, "after", NOW)
    assert at(book) == (Phase.WAITING, "one")
    marks.stage_succeeded(book, 0, NOW)
    marks.run_progressing(book, NOW)
    assert at(book) == (Phase.RUNNING, "two")
    marks.stage_skipped(book, 1, NOW)
    assert at(book) == (Phase.RUNNING, "kubernetes-fleet.io/deleteStage")
    marks.stage_succeeded(book, DELETION, NOW)
    marks.run_succeeded(book, NOW)
    assert at(book) == (Phase.SUCCEEDED, "")


def test_a_run_that_removes_nothing_ends_with_its_last_stage() -> None:
    book = ledger()
    marks.stage_succeeded(book, 0, NOW)
    assert phases.stage_name(book.status) == ""


def test_a_held_up_run_stays_at_its_stage() -> None:
    book = ledger()
    marks.run_initialized(book, NOW)
    marks.run_stuck(book, 0, ["a"], NOW)
    assert at(book) == (Phase.STUCK, "prod")
    marks.stopping(book, 0, NOW)
    assert at(book) == (Phase.STOPPING, "prod")
    marks.stopped(book, 0, NOW)
    assert at(book) == (Phase.STOPPED, "prod")


def test_a_run_that_failed_is_at_the_stage_that_failed() -> None:
    book = ledger(stage("one"), stage("two", "dev"))
    marks.run_initialized(book, NOW)
    marks.stage_succeeded(book, 0, NOW)
    marks.stage_failed(book, 1, "why", NOW)
    marks.run_failed(book, "why", NOW)
    assert at(book) == (Phase.FAILED, "two")


def test_a_cluster_that_failed_is_neither_done_nor_in_flight() -> None:
    book = ledger()
    marks.cluster_started(book, 0, 0, NOW)
    marks.cluster_failed(book, 0, 0, "why", NOW)
    assert phases.done(book.stage(0)) == 0
    assert phases.in_flight(book.stage(0)) == {}
