"""The bridge's requests to Temporal: start a run's workflow, signal it, end it.

Every request may be repeated: a workflow that already exists, or is over, is not an error.
"""

import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import (
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from api.runs import UpdateRun
from bridge import endings
from hub import Unavailable
from planning.identity import RunRef
from workflows import search_attributes
from workflows.ended_run import END_WORKFLOW, EndRunInput
from workflows.messages import WORKFLOW, Message, TemporalApprovals, UpdateRunInput
from workflows.update_run import DELETED

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal to a workflow, with its message."""

    name: str
    message: Message


class Workflows:
    """The workflows of update runs."""

    def __init__(
        self,
        client: Client,
        *,
        task_queue: str,
        stuck_after: timedelta,
        temporal_approvals: TemporalApprovals = TemporalApprovals.ACCEPT,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._stuck_after = stuck_after
        self._temporal_approvals = temporal_approvals
        self._warned = False

    async def start(self, ref: RunRef, run: UpdateRun, *, signal: Signal | None) -> bool:
        """Start the run's workflow unless it exists, and signal it in the same request.

        Return whether the workflow is running; one that is over is not started again. Raises
        Unavailable if Temporal does not answer.
        """
        try:
            await self._start_searchable(ref, run, signal)
        except WorkflowAlreadyStartedError:
            logger.debug("the workflow of run %s is over", ref.reference(ref.name))
            return False
        except RPCError as error:
            # Including "not found": then the namespace is missing, as in a Temporal server that
            # has just started.
            raise Unavailable(f"Temporal: {error.message}") from error
        return True

    async def _start_searchable(self, ref: RunRef, run: UpdateRun, signal: Signal | None) -> None:
        """Start with search attributes, or without them if they are not registered.

        Tried with each run, so that nothing has to be restarted after they are registered.
        """
        try:
            await self._start(ref, run, signal, search_attributes.at_start(ref, run.spec))
        except RPCError as refusal:
            if refusal.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            await self._start(ref, run, signal, None)
            # The second request succeeded, so the search attributes were the only problem.
            self._warn_once(refusal.message)

    async def _start(
        self,
        ref: RunRef,
        run: UpdateRun,
        signal: Signal | None,
        found_by: TypedSearchAttributes | None,
    ) -> None:
        spec = run.spec
        await self._client.start_workflow(
            WORKFLOW,
            UpdateRunInput(
                run=ref,
                stuck_after=self._stuck_after,
                temporal_approvals=self._temporal_approvals,
                searchable=found_by is not None,
            ),
            id=ref.workflow_id,
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            start_signal=signal.name if signal else None,
            start_signal_args=[signal.message] if signal else [],
            static_summary=f"{spec.placement_name} by {spec.staged_rollout_strategy_name}",
            static_details=_details(ref, run),
            search_attributes=found_by,
        )

    def _warn_once(self, refusal: str) -> None:
        if not self._warned:
            logger.warning(
                "Temporal does not know fleetgate's search attributes in namespace %s, so its UI "
                "cannot find runs by placement, state or stage; register them with `fleetgate "
                "search-attributes` (%s)",
                self._client.namespace,
                refusal,
            )
        self._warned = True

    async def end(self, ref: RunRef, run: UpdateRun) -> None:
        """Start a workflow that ends the run on the hub, with how the run's own workflow ended.

        Do nothing if that workflow is still running. Raises Unavailable if Temporal does not
        answer.
        """
        try:
            if ended := await endings.find(self._client, ref):
                await self._client.start_workflow(
                    END_WORKFLOW,
                    EndRunInput(run=ref, ended=ended),
                    id=ref.workflow_id,
                    task_queue=self._task_queue,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    static_summary=f"{run.spec.placement_name}: over in Temporal, not on the hub",
                )
        except RPCError as error:
            raise Unavailable(f"Temporal: {error.message}") from error

    async def running(self) -> set[str]:
        """Return the ids of the running workflows of runs, at most some seconds out of date.

        Raises Unavailable if Temporal does not answer.
        """
        types = ", ".join(f'"{each}"' for each in (WORKFLOW, END_WORKFLOW))
        query = f'WorkflowType IN ({types}) AND ExecutionStatus = "Running"'
        try:
            return {each.id async for each in self._client.list_workflows(query)}
        except RPCError as error:
            raise Unavailable(f"Temporal: {error.message}") from error

    async def exists(self, ref: RunRef) -> bool:
        """Return whether Temporal knows the run's workflow, running or not.

        Raises Unavailable if Temporal does not answer.
        """
        return await _asked(self._client.get_workflow_handle(ref.workflow_id).describe())

    async def until_over(self, ref: RunRef) -> bool:
        """Wait until the run's workflow is over; return whether Temporal knows it.

        Raises Unavailable if Temporal becomes unreachable meanwhile.
        """
        return await _asked(endings.closed(self._client, ref))

    async def send(self, ref: RunRef, signal: Signal) -> bool:
        """Signal the run's workflow; return whether it is running.

        Raises Unavailable if Temporal does not answer.
        """
        handle = self._client.get_workflow_handle(ref.workflow_id)
        return await _asked(handle.signal(signal.name, signal.message))

    async def cancel(self, ref: RunRef) -> None:
        """Cancel the workflow of a run that is deleted.

        Raises Unavailable if Temporal does not answer.
        """
        handle = self._client.get_workflow_handle(ref.workflow_id)
        await _asked(handle.cancel(reason=DELETED))


async def _asked(request: Awaitable[object]) -> bool:
    """Await a request about a workflow; return whether the workflow was found."""
    try:
        await request
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise Unavailable(f"Temporal: {error.message}") from error
        return False
    return True


def _details(ref: RunRef, run: UpdateRun) -> str:
    spec = run.spec
    index = spec.resource_snapshot_index
    what = f"resource snapshot {index}" if index else "the hub's content at the start of the run"
    return (
        f"{run.kind} `{ref.reference(ref.name)}` rolls out {what} to placement "
        f"`{spec.placement_name}`, in the stages of strategy `{spec.staged_rollout_strategy_name}`."
    )
