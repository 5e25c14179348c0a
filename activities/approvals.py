"""Approval requests: creating, reading, approving for a person, accepting.

contract: update-runs 4 and 8.5
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.requests import AcceptApproval, ApprovalState, OpenApproval, RecordApproval
from api import names
from api.approvals import BaseApprovalRequest
from api.base import Condition, ObjectMeta
from hub import AlreadyExists, Hub, Json, NotFound
from planning import signatures
from planning.identity import RunRef
from planning.runs import approval_events, approvals

MANAGER: Final = "fleetgate-engine"


class ApprovalActivities:
    """Effects on one approval request; every call may be repeated."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name=stubs.OPEN_APPROVAL.name)
    async def open_approval(self, request: OpenApproval) -> ApprovalState:
        """Create the approval request unless it exists, and return whether it is approved.

        A request for an earlier run of the same name is replaced. Raises (not retried): an object
        with this name belongs to another run or stage.
        """
        with told_to_temporal():
            try:
                await self._hub.create(request.run.scope.approval, _body(request))
            except AlreadyExists:
                return await self._existing(request)
            return ApprovalState()

    async def _existing(self, request: OpenApproval) -> ApprovalState:
        run = request.run
        found = await self._read(run, request.name)
        if found is not None and await self._is_of_namesake(run, found):
            with suppress(NotFound):
                await self._hub.delete(
                    run.scope.approval,
                    request.name,
                    namespace=run.namespace,
                    uid=found.metadata.uid,
                )
            await self._hub.create(run.scope.approval, _body(request))
            return ApprovalState()
        if found is None:
            return ApprovalState(exists=False)
        approvals.check_target(found, run=request.run, name=request.name, stage=request.stage)
        return ApprovalState(approved=approvals.approved(found))

    @activity.defn(name=stubs.RECORD_APPROVAL.name)
    async def record_approval(self, request: RecordApproval) -> ApprovalState:
        """Write an approval given through Temporal to the request, unless it is approved."""
        with told_to_temporal():
            found = await self._find(request.run, request.name)
            if found is None:
                return ApprovalState(exists=False)
            if not approvals.approved(found):
                condition = approvals.approval(
                    found,
                    by=signatures.of_temporal(request.by),
                    comment=request.comment,
                    now=datetime.now(UTC),
                )
                await self._put(request.run, found, condition)
            return ApprovalState(approved=True)

    @activity.defn(name=stubs.ACCEPT_APPROVAL.name)
    async def accept_approval(self, request: AcceptApproval) -> ApprovalState:
        """Mark the request as accepted if it is approved; this is permanent."""
        with told_to_temporal():
            found = await self._find(request.run, request.name)
            if found is None:
                return ApprovalState(exists=False)
            if not approvals.approved(found):
                return ApprovalState()
            if not approvals.accepted(found):
                condition = approvals.acceptance(found, now=datetime.now(UTC))
                await self._put(request.run, found, condition)
            return ApprovalState(approved=True, given=approval_events.given(found))

    async def _find(self, run: RunRef, name: str) -> BaseApprovalRequest | None:
        """Return the request of this run; one of an earlier run of the same name is ignored."""
        found = await self._read(run, name)
        return None if found is None or await self._is_of_namesake(run, found) else found

    async def _read(self, run: RunRef, name: str) -> BaseApprovalRequest | None:
        found = await self._hub.find(run.scope.approval, name, namespace=run.namespace)
        return BaseApprovalRequest.from_wire(found) if found else None

    async def _is_of_namesake(self, run: RunRef, request: BaseApprovalRequest) -> bool:
        if uid := request.metadata.annotations.get(names.RUN_UID):
            return uid != run.uid
        # Created by a person or by KubeFleet: it is for this run unless it is older than the run.
        body = await self._hub.find(run.scope.run, run.name, namespace=run.namespace)
        begun = ObjectMeta.model_validate(body["metadata"]).creation_timestamp if body else None
        made = request.metadata.creation_timestamp
        return begun is not None and made is not None and made < begun

    async def _put(self, run: RunRef, request: BaseApprovalRequest, condition: Condition) -> None:
        # Applied, so that the person's condition and ours have separate owners. The uid keeps the
        # apply from creating the object again if it was deleted meanwhile.
        await self._hub.apply(
            run.scope.approval,
            {
                "metadata": _metadata(run, request.metadata.name, uid=request.metadata.uid),
                "status": {"conditions": [condition.to_wire()]},
            },
            subresource="status",
            manager=f"{MANAGER}-{condition.type.lower()}",
        )


def _metadata(run: RunRef, name: str, **fields: str) -> Json:
    placed = {"namespace": run.namespace} if run.namespace else {}
    return {"name": name} | placed | fields


def _body(request: OpenApproval) -> Json:
    labels = {
        names.TARGET_UPDATING_STAGE: request.stage,
        names.TARGET_UPDATE_RUN: request.run.name,
        names.TASK_TYPE: request.task_type,
        names.IS_LATEST_APPROVAL: "true",
    }
    marks = {"labels": labels, "annotations": {names.RUN_UID: request.run.uid}}
    return {
        "metadata": _metadata(request.run, request.name) | marks,
        "spec": {"parentStageRollout": request.run.name, "targetStage": request.stage},
    }
