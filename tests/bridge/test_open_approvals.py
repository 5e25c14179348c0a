"""Which approval requests a run waits for, according to its status."""

from api.runs import ClusterStagedUpdateRun, UpdateRunSpec
from bridge.approvals import open_requests, waiting_for
from planning.runs import marks
from planning.runs.gates import GateSide
from planning.runs.ledger import Ledger
from tests.planning.run_samples import APPROVAL, NOW, WAIT, ledger, stage
from workflows.messages import ApprovalLost


def gated() -> Ledger:
    """Return the ledger of a run with approvals around its first stage and before its second."""
    return ledger(
        stage("one", before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL]),
        stage("two", "dev", before_stage_tasks=[APPROVAL]),
    )


def run(book: Ledger) -> ClusterStagedUpdateRun:
    spec = UpdateRunSpec(placement_name="web", staged_rollout_strategy_name="slow")
    return ClusterStagedUpdateRun(spec=spec, status=book.status)


def test_a_request_that_was_never_created_is_not_open() -> None:
    assert open_requests(run(gated())) == []
    assert waiting_for(run(gated()), "v2-before-one") == []


def test_a_request_is_open_from_its_creation_to_its_acceptance() -> None:
    book = gated()
    marks.gate_opened(book, 0, "before", 0, NOW)
    assert open_requests(run(book)) == ["v2-before-one"]
    marks.gate_passed(book, 0, "before", 0, NOW)
    assert open_requests(run(book)) == []
    assert waiting_for(run(book), "v2-before-one") == []


def test_a_timed_wait_has_no_request() -> None:
    book = gated()
    marks.gate_passed(book, 0, "after", 0, NOW)
    assert open_requests(run(book)) == []


def test_a_request_leads_to_its_gate() -> None:
    book = gated()
    marks.gate_opened(book, 0, "after", 1, NOW)
    marks.gate_opened(book, 1, "before", 0, NOW)
    assert open_requests(run(book)) == ["v2-after-one", "v2-before-two"]
    assert waiting_for(run(book), "v2-after-one") == [
        ApprovalLost(stage="one", side=GateSide.AFTER)
    ]
    assert waiting_for(run(book), "v2-before-two") == [
        ApprovalLost(stage="two", side=GateSide.BEFORE)
    ]
    assert waiting_for(run(book), "other-before-two") == []


def test_a_run_without_a_status_waits_for_nothing() -> None:
    spec = UpdateRunSpec(placement_name="web", staged_rollout_strategy_name="slow")
    assert open_requests(ClusterStagedUpdateRun(spec=spec)) == []
