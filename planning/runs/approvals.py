"""Approval requests: reading them, and the conditions that approve and accept them.

contract: update-runs 4 and 8.5
"""

from datetime import datetime
from typing import Final

from api.approvals import BaseApprovalRequest
from api.base import Condition
from api.reasons import ApprovalMessage, ApprovalReason, ConditionType
from planning import conditions, failures, signatures
from planning.identity import RunRef

APPROVED: Final = ConditionType.APPROVED
ACCEPTED: Final = ConditionType.APPROVAL_ACCEPTED


def approved(request: BaseApprovalRequest) -> bool:
    """Return whether this generation of the request is approved, or was accepted earlier."""
    generation = request.metadata.generation
    return accepted(request) or conditions.has(
        request.status.conditions, APPROVED, generation=generation
    )


def accepted(request: BaseApprovalRequest) -> bool:
    """Return whether the approval was accepted, which cannot be reverted."""
    return conditions.has(
        request.status.conditions, ACCEPTED, generation=request.metadata.generation
    )


def acceptance(request: BaseApprovalRequest, *, now: datetime) -> Condition:
    """Return the condition that accepts an approval."""
    return conditions.make(
        ACCEPTED,
        "True",
        ApprovalReason.ACCEPTED,
        ApprovalMessage.ACCEPTED,
        generation=request.metadata.generation,
        now=now,
    )


def approval(request: BaseApprovalRequest, *, by: str, comment: str, now: datetime) -> Condition:
    """Return the condition that approves, as a person would write it with kubectl."""
    text = comment or f"{request.kind} has been approved"
    return conditions.make(
        APPROVED,
        "True",
        f"{request.kind}Approved",
        signatures.sign(text, by),
        generation=request.metadata.generation,
        now=now,
    )


def check_target(request: BaseApprovalRequest, *, run: RunRef, name: str, stage: str) -> None:
    """Reject a request that has the right name but belongs to another run or stage.

    Raises:
        RunAborted: it targets another run or stage.
    """
    spec = request.spec
    if (spec.parent_stage_rollout, spec.target_stage) == (run.name, stage):
        return
    raise failures.APPROVAL_OF_ANOTHER.error(
        request=run.key(name),
        run=run.key(spec.parent_stage_rollout),
        stage=spec.target_stage,
        wanted_run=run.key(run.name),
        wanted_stage=stage,
    )
