"""What the bridge asks of Temporal: start a run's workflow, tell it something, end it.

Everything may be repeated: a workflow that exists already, or is over, is no error.
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
    """Something to tell a workflow."""

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
        """Start the run's workflow unless it exists, and tell it something in the same request.

        Says whether the workflow is there; one that is over stays over. Raises Unavailable when
        Temporal does not answer.
        """
        try:
            await self._start_searchable(ref, run, signal)
        except WorkflowAlreadyStartedError:
            logger.debug("the workflow of run %s is over", ref.reference(ref.name))
            return False
        except RPCError as error:
            # Not found too: then it is the namespace that is missing, as in a Temporal that has
            # only just started.
            raise Unavailable(f"Temporal: {error.message}") from error
        return True

    async def _start_searchable(self, ref: RunRef, run: UpdateRun, signal: Signal | None) -> None:
        """Start with search attributes, or without where they are not registered.

        It is tried with each run: whoever registers them need not restart anything.
        """
        try:
            await self._start(ref, run, signal, search_attributes.at_start(ref, run.spec))
        except RPCError as refusal:
            if refusal.status is not RPCStatusCode.INVALID_ARGUMENT:
                raise
            await self._start(ref, run, signal, None)
            # Now it is known that nothing else was wrong with the first request.
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
        """Have the hub told that a run is over whose workflow is, and how that ended.

        Nothing comes of it when the workflow is not over. Raises Unavailable when Temporal does
        not answer.
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
        """Ids of the workflows of runs that are not over, as of some seconds ago at the most.

        Raises Unavailable when Temporal does not answer.
        """
        types = ", ".join(f'"{each}"' for each in (WORKFLOW, END_WORKFLOW))
        query = f'WorkflowType IN ({types}) AND ExecutionStatus = "Running"'
        try:
            return {each.id async for each in self._client.list_workflows(query)}
        except RPCError as error:
            raise Unavailable(f"Temporal: {error.message}") from error

    async def exists(self, ref: RunRef) -> bool:
        """Whether Temporal knows the run's workflow, be it over or not.

        Raises Unavailable when Temporal does not answer.
        """
        return await _asked(self._client.get_workflow_handle(ref.workflow_id).describe())

    async def until_over(self, ref: RunRef) -> bool:
        """Wait until the run's workflow is over; says whether Temporal knows it.

        Raises Unavailable when Temporal goes away meanwhile.
        """
        return await _asked(endings.closed(self._client, ref))

    async def tell(self, ref: RunRef, signal: Signal) -> bool:
        """Signal the run's workflow; says whether it is there to hear it.

        Raises Unavailable when Temporal does not answer.
        """
        handle = self._client.get_workflow_handle(ref.workflow_id)
        return await _asked(handle.signal(signal.name, signal.message))

    async def cancel(self, ref: RunRef) -> None:
        """End the workflow of a run that is deleted.

        Raises Unavailable when Temporal does not answer.
        """
        handle = self._client.get_workflow_handle(ref.workflow_id)
        await _asked(handle.cancel(reason=DELETED))


async def _asked(request: Awaitable[object]) -> bool:
    """Await a request about a workflow; says whether the workflow is there."""
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
    what = f"resource snapshot {index}" if index else "the hub's content as it is at the start"
    return (
        f"{run.kind} `{ref.reference(ref.name)}` takes placement `{spec.placement_name}` through "
        f"the stages of strategy `{spec.staged_rollout_strategy_name}`, with {what}."
    )
