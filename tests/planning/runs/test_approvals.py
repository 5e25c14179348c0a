"""Approvals: when one counts, and its conditions (contract: update-runs 4 and 8.5)."""

from functools import partial
from typing import Any

import pytest

from api.approvals import ApprovalRequest, BaseApprovalRequest, ClusterApprovalRequest
from planning.errors import RunAborted
from planning.identity import RunRef
from planning.runs import approvals
from tests.planning.run_samples import NOW, both_scopes
from tests.support import conditions

condition = partial(conditions.condition, at=NOW)


def request(*conditions: dict[str, Any], run: str = "v2", stage: str = "prod") -> Any:
    return BaseApprovalRequest.from_wire(
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterApprovalRequest",
            "metadata": {"name": "v2-before-prod", "generation": 1},
            "spec": {"parentStageRollout": run, "targetStage": stage},
            "status": {"conditions": list(conditions)},
        }
    )


APPROVED, ACCEPTED = condition("Approved"), condition("ApprovalAccepted")


@pytest.mark.parametrize(
    ("conditions", "approved", "accepted"),
    [
        ([], False, False),
        ([APPROVED], True, False),
        ([APPROVED, ACCEPTED], True, True),
        ([ACCEPTED], True, True),
        ([condition("Approved", "False"), ACCEPTED], True, True),
        ([condition("Approved", "False")], False, False),
        ([condition("Approved", "Unknown")], False, False),
        ([condition("Approved", generation=2)], False, False),
        ([condition("Approved", generation=0)], False, False),
        ([condition("Approved", generation=None)], False, False),
        ([condition("ApprovalAccepted", generation=2)], False, False),
        ([condition("Mood")], False, False),
    ],
    ids=[
        "no condition",
        "approved",
        "approved and accepted",
        "accepted alone",
        "removed after it was accepted",
        "refused",
        "unknown",
        "for a later generation",
        "for an earlier generation",
        "for no generation",
        "accepted for another generation",
        "another condition",
    ],
)
def test_an_approval_counts_for_the_objects_generation_and_cannot_be_undone(
    conditions: list[dict[str, Any]], approved: bool, accepted: bool
) -> None:
    assert approvals.approved(request(*conditions)) is approved
    assert approvals.accepted(request(*conditions)) is accepted


def test_an_approval_is_accepted_with_the_contracts_message() -> None:
    assert approvals.acceptance(request(APPROVED), now=NOW).to_wire() == {
        "type": "ApprovalAccepted",
        "status": "True",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
        "reason": "ApprovalRequestApprovalAccepted",
        "message": "The approval request has been approved and cannot be reverted",
    }


@pytest.mark.parametrize("kind", [ClusterApprovalRequest, ApprovalRequest])
@pytest.mark.parametrize(
    ("by", "comment", "message"),
    [
        ("", "", "{kind} has been approved"),
        ("alice", "", "{kind} has been approved (by alice)"),
        ("", "looks good", "looks good"),
        ("alice", "looks good", "looks good (by alice)"),
    ],
)
def test_an_approval_is_the_same_as_if_written_with_kubectl(
    kind: type[BaseApprovalRequest], by: str, comment: str, message: str
) -> None:
    asked = kind.from_wire(request().to_wire() | {"kind": kind.__name__})
    given = approvals.approval(asked, by=by, comment=comment, now=NOW)
    assert given.reason == f"{kind.__name__}Approved"
    assert given.message == message.format(kind=kind.__name__)
    asked.status.conditions.append(given)
    assert approvals.approved(asked)


@both_scopes
def test_a_request_for_this_run_and_stage_is_accepted(run: RunRef, ns: str) -> None:
    approvals.check_target(request(), run=run, name="v2-before-prod", stage="prod")


@both_scopes
@pytest.mark.parametrize(("other_run", "other_stage"), [("v1", "prod"), ("v2", "canary")])
def test_a_request_for_another_run_or_stage_ends_the_run(
    run: RunRef, ns: str, other_run: str, other_stage: str
) -> None:
    other = request(run=other_run, stage=other_stage)
    with pytest.raises(RunAborted) as refused:
        approvals.check_target(other, run=run, name="v2-before-prod", stage="prod")
    assert str(refused.value) == (
        "cannot continue the updateRun: "
        "unexpected behavior which cannot be handled by the controller: "
        f"the approval request task `{ns}/v2-before-prod` is targeting update run "
        f"`{ns}/{other_run}` and stage `{other_stage}`, "
        f"want target update run `{ns}/v2 and stage `prod`"
    )
