"""Which gates a run waits at, by its status."""

from datetime import datetime, timedelta

from planning.runs import gates, marks
from planning.runs.gates import PendingApproval
from planning.runs.tasks import GateSide
from tests.planning.run_samples import APPROVAL, NOW, WAIT, ledger, stage


def after(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


def asked(side: GateSide, seconds: int) -> PendingApproval:
    return PendingApproval(stage="prod", side=side, request=f"v2-{side}-prod", since=after(seconds))


def test_an_approval_is_pending_from_its_request_until_it_is_given() -> None:
    gated = stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL])
    book = ledger(gated)
    marks.run_initialized(book, NOW)
    assert gates.closed(book.status).approvals == ()
    marks.approval_created(book, 0, "before", 0, after(1))
    assert gates.closed(book.status).approvals == (asked(GateSide.BEFORE, 1),)
    marks.approval_given(book, 0, "before", 0, after(2))
    assert gates.closed(book.status).approvals == ()
    marks.approval_created(book, 0, "after", 1, after(3))
    assert gates.closed(book.status).approvals == (asked(GateSide.AFTER, 3),)


def test_a_run_that_has_ended_waits_at_no_gate() -> None:
    book = ledger(stage(before_stage_tasks=[APPROVAL]))
    marks.run_initialized(book, NOW)
    marks.approval_created(book, 0, "before", 0, NOW)
    marks.run_failed(book, "why", after(1))
    assert gates.closed(book.status).approvals == ()
