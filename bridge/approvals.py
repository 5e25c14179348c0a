"""Approval requests: approvals are passed on to the workflow, and orphans are removed.

contract: update-runs 4, 8.5 and 12
"""

from collections.abc import Callable
from datetime import UTC, datetime

from activities.events import write
from api.approvals import BaseApprovalRequest
from api.names import RUN_UID, TASK_TYPE
from api.reasons import ConditionType
from api.runs import StageStatus, UpdateRun
from bridge.runs import RunIndex, is_live, key_of
from bridge.temporal import Signal, Workflows
from hub import Cache, Hub, Key, NotFound
from planning import conditions
from planning.events import EventSubject
from planning.runs import approval_events, approvals
from planning.runs.gates import GateSide
from telemetry import log_about
from workflows.messages import ApprovalLost, Approve

_SIDES = {"beforeStage": GateSide.BEFORE, "afterStage": GateSide.AFTER}


class ApprovalReconciler:
    """Tells a run's workflow what happened to an approval request."""

    def __init__(
        self,
        hub: Hub,
        cache: Cache,
        runs: RunIndex,
        workflows: Workflows,
        *,
        lost: Callable[[Key], None],
    ) -> None:
        """`lost` is called for active runs whose workflow is missing."""
        self._hub = hub
        self._cache = cache
        self._runs = runs
        self._workflows = workflows
        self._run_lost = lost

    async def reconcile(self, key: Key) -> None:
        """Bring the workflow, or the approval request, up to date.

        Raises HubError if the hub or Temporal does not answer.
        """
        namespace, name = key
        found = self._cache.get(name, namespace)
        if found is None:
            await self._lost(key)
            return
        request = BaseApprovalRequest.from_wire(found)
        log_about(run=request.spec.parent_stage_rollout, stage=request.spec.target_stage)
        run = self._runs.get((namespace, request.spec.parent_stage_rollout))
        if run is None:
            await self._remove_orphan(request)
        elif not is_live(run) or approvals.accepted(request):
            return
        elif approvals.approved(request):
            await self._approve(run, request)
        else:
            await self._explain(request)

    async def _approve(self, run: UpdateRun, request: BaseApprovalRequest) -> None:
        message = Approve(
            stage=request.spec.target_stage,
            side=_SIDES.get(request.metadata.labels.get(TASK_TYPE, "")),
            on_object=True,
        )
        await self._signal(run, Signal("approve", message))

    async def _signal(self, run: UpdateRun, signal: Signal) -> None:
        if not await self._workflows.send(self._runs.ref(run), signal):
            # A new workflow will read the approval request itself.
            self._run_lost(key_of(run))

    async def _explain(self, request: BaseApprovalRequest) -> None:
        """Warn with an event if an approval does not match the request (contract decision 12)."""
        kind, meta = self._runs.scope.approval, request.metadata
        warning = approval_events.uncounted(request, kind=kind, now=datetime.now(UTC))
        if warning:
            event, key = warning
            about = EventSubject(kind, meta.namespace, meta.name, meta.uid)
            await write(self._hub, event, about, key=key)

    async def _lost(self, key: Key) -> None:
        """Notify the runs, if any, that wait for a deleted request."""
        namespace, name = key
        # The cache may lag behind: a request that a workflow has just created is not lost.
        if await self._hub.find(self._runs.scope.approval, name, namespace=namespace):
            return
        for run in self._runs.active():
            if run.metadata.namespace != namespace:
                continue
            for message in waiting_for(run, name):
                await self._signal(run, Signal("approval_lost", message))

    async def _remove_orphan(self, request: BaseApprovalRequest) -> None:
        """Delete a request that a workflow created just as its run was deleted.

        A request that a person created in advance, for a future run, stays.
        """
        meta, run = request.metadata, request.spec.parent_stage_rollout
        if RUN_UID not in meta.annotations:
            return
        if await self._hub.find(self._runs.scope.run, run, namespace=meta.namespace):
            return
        try:
            await self._hub.delete(
                self._runs.scope.approval, meta.name, namespace=meta.namespace, uid=meta.uid
            )
        except NotFound:
            return


def open_requests(run: UpdateRun) -> list[str]:
    """Return the names of a run's approval requests that are not accepted yet."""
    return [name for stage in run.status.stages_status for name, _ in _open(stage)]


def waiting_for(run: UpdateRun, request: str) -> list[ApprovalLost]:
    """Return the gates of a run that wait for the request with this name; one or none."""
    return [
        ApprovalLost(stage=stage.stage_name, side=side)
        for stage in run.status.stages_status
        for name, side in _open(stage)
        if name == request
    ]


def _open(stage: StageStatus) -> list[tuple[str, GateSide]]:
    sides = (
        (GateSide.BEFORE, stage.before_stage_task_status),
        (GateSide.AFTER, stage.after_stage_task_status),
    )
    return [
        (task.approval_request_name, side)
        for side, tasks in sides
        for task in tasks
        if conditions.has(task.conditions, ConditionType.APPROVAL_REQUEST_CREATED)
        and not conditions.has(task.conditions, ConditionType.APPROVAL_REQUEST_APPROVED)
    ]
