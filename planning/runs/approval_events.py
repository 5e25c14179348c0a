"""Events and commands about approvals: how to give one, who gave one, why one does not count.

contract: update-runs 4, decisions 12 and 13
"""

import json
import shlex
from datetime import datetime
from typing import Final

from api.approvals import BaseApprovalRequest
from api.kinds import Kind
from api.names import TASK_TYPE
from api.reasons import ApprovalMessage, ConditionType
from api.texts import Text
from planning import conditions, signatures
from planning.events import REPORTER, Event, EventType
from planning.runs import approvals
from planning.runs.facts import Fact
from planning.runs.gates import approve_command
from planning.writers import last_writer

NOT_COUNTED: Final = "ApprovalNotCounted"
IGNORED: Final = Text("{why}. To fix it: {remedy}")
"""Message of the event for an approval that does not count."""
_WITHOUT_COMMENT: Final = (ApprovalMessage.CLUSTER_APPROVED, ApprovalMessage.NAMESPACED_APPROVED)
"""What an approval says if the user did not comment."""
_SIDES: Final = {"beforeStage": "before", "afterStage": "after"}


def kubectl_approve_command(
    *, kind: Kind, request: str, namespace: str, generation: int, now: datetime
) -> str:
    """Return the kubectl command that approves a request.

    It replaces an existing condition Approved, which would not count.
    """
    approved = conditions.make(
        ConditionType.APPROVED, "True", "Approved", "approved", generation=generation, now=now
    )
    patch = {"status": {"conditions": [approved.to_wire()]}}
    return _patched(kind, request, namespace, "merge", patch)


def fault(request: BaseApprovalRequest) -> str:
    """Return why a given approval does not count; empty if it does, or if none was given."""
    approval = conditions.find(request.status.conditions, ConditionType.APPROVED)
    if approval is None or approval.status != "True" or approvals.approved(request):
        return ""
    named = approval.observed_generation
    wrong = f"has observedGeneration {named}" if named else "has no observedGeneration"
    return (
        f"The approval does not count: its condition Approved {wrong}, "
        f"but the generation of the request is {request.metadata.generation}"
    )


def uncounted(
    request: BaseApprovalRequest, *, kind: Kind, now: datetime
) -> tuple[Event, str] | None:
    """Return the warning that an approval does not count, and its key; None if not needed.

    The key is the condition's content, so that a correction that is wrong again gets a new warning.
    """
    found = request.status.conditions
    approval = conditions.find(found, ConditionType.APPROVED)
    why = fault(request)
    if approval is None or not why:
        return None
    event = Event(
        type=EventType.WARNING,
        reason=NOT_COUNTED,
        message=IGNORED.fill(why=why, remedy=_remedy(request, kind, found.index(approval))),
        at=now,
    )
    return event, json.dumps(approval.to_wire(), sort_keys=True)


class Given(Fact):
    """How an approval was given."""

    tool: str = ""
    """Name of the tool that wrote it; empty if fleetgate did."""
    message: str = ""
    """What the approval says, bounded; the user's name may stand at its end."""

    @property
    def by(self) -> str:
        """The user who gave it; empty if unknown."""
        return signatures.split(self.message)[1]

    @property
    def comment(self) -> str:
        """The comment of that user; empty if there was none."""
        said, _ = signatures.split(self.message)
        return "" if said in _WITHOUT_COMMENT else said

    @property
    def who(self) -> str:
        """The user and the tool, as far as they are known: `jane with kubectl-patch`."""
        tool = f"with {self.tool}" if self.tool else ""
        return " ".join(filter(None, (self.by, tool)))


def given(request: BaseApprovalRequest) -> Given:
    """Return how a request was approved; empty if it was not."""
    approval = conditions.find(request.status.conditions, ConditionType.APPROVED)
    if approval is None:
        return Given()
    message = signatures.bounded(approval.message or approval.reason)
    return Given(tool=_writer(request), message=message)


def _remedy(request: BaseApprovalRequest, kind: Kind, position: int) -> str:
    meta, spec = request.metadata, request.spec
    command = approve_command(
        run=spec.parent_stage_rollout,
        stage=spec.target_stage,
        side=_SIDES.get(meta.labels.get(TASK_TYPE, ""), ""),
        namespace=meta.namespace,
    )
    return f"{_patch_command(request, kind, position)} or: {command}"


def _patch_command(request: BaseApprovalRequest, kind: Kind, position: int) -> str:
    """Return the command that corrects only the generation; who, when and why stay unchanged."""
    meta = request.metadata
    path = f"/status/conditions/{position}/observedGeneration"
    patch = [{"op": "add", "path": path, "value": meta.generation}]
    return _patched(kind, meta.name, meta.namespace, "json", patch)


def _patched(kind: Kind, name: str, namespace: str, how: str, patch: object) -> str:
    words = ["kubectl", "patch", kind.plural, name]
    words += ["-n", namespace] if namespace else []
    text = json.dumps(patch, separators=(",", ":"))
    return shlex.join([*words, "--subresource=status", f"--type={how}", "-p", text])


def _writer(request: BaseApprovalRequest) -> str:
    """Return the tool that wrote the approval, by its managed fields; empty if fleetgate did."""
    key = f'k:{{"type":"{ConditionType.APPROVED}"}}'
    writer = last_writer(request.metadata, "f:status", "f:conditions", key)
    return "" if writer is None or writer.name.startswith(REPORTER) else writer.name
