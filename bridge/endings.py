"""How workflows of runs ended, according to Temporal."""

from datetime import UTC, datetime
from typing import Final

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, HistoryEventFilterType
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus

from api.reasons import RunReason
from planning.identity import RunRef
from planning.runs.restored import Ended
from workflows.messages import RunOutcome

_WORDS: Final[dict[str, str]] = {
    RunReason.SUCCEEDED: "succeeded",
    RunReason.FAILED: "failed",
    RunReason.SUPERSEDED: "failed",
    RunReason.INITIALIZE_FAILED: "failed",
    "Gone": "the run was gone from the hub",
}
"""Text for each outcome of a run's workflow. The outcome of an `EndUpdateRun` workflow already is
such a text."""


async def find(client: Client, ref: RunRef) -> Ended | None:
    """Return how the run's latest workflow ended; None if it is still running.

    Raises RPCError if Temporal does not answer, or does not know the workflow.
    """
    described = await client.get_workflow_handle(ref.workflow_id).describe()
    at = described.close_time or datetime.now(UTC)
    match described.status:
        case WorkflowExecutionStatus.RUNNING | WorkflowExecutionStatus.CONTINUED_AS_NEW:
            return None
        case WorkflowExecutionStatus.COMPLETED:
            return Ended(how=await _outcome(client, described), at=at)
        case status:
            word = status.name.lower().replace("_", " ") if status else "ended"
            return Ended(how=word, at=at, by_itself=False)


async def _outcome(client: Client, described: WorkflowExecutionDescription) -> str:
    handle = client.get_workflow_handle(
        described.id, run_id=described.run_id, result_type=RunOutcome
    )
    outcome: RunOutcome = await handle.result(follow_runs=False)
    return _WORDS.get(outcome.reason, outcome.reason)


async def closed(client: Client, ref: RunRef) -> None:
    """Wait until the run's workflow is over.

    This bypasses the client's own retries, which would hide a short outage of Temporal. Raises
    RPCError after an outage, or if Temporal does not know the workflow.
    """
    request = _close_event(client, ref)
    while True:
        answer = await client.workflow_service.get_workflow_execution_history(request)
        events = answer.history.events
        if not events:
            request.next_page_token = answer.next_page_token
        elif events[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
            request = _close_event(client, ref)
        else:
            return


def _close_event(client: Client, ref: RunRef) -> GetWorkflowExecutionHistoryRequest:
    return GetWorkflowExecutionHistoryRequest(
        namespace=client.namespace,
        execution=WorkflowExecution(workflow_id=ref.workflow_id),
        wait_new_event=True,
        history_event_filter_type=HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
        skip_archival=True,
    )
