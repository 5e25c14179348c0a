"""What Temporal has written down of steps of a workflow that could not be taken."""

from typing import Final

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.client import Client

HARMLESS: Final = frozenset({"UNHANDLED_COMMAND", "UNHANDLED_UPDATE", "FORCE_CLOSE_COMMAND"})
"""News came while the step was taken, or more of it than Temporal holds back; it is taken again."""

SLOW: Final = "[TMPRL1101]"
"""Begins what the SDK says of a step that took longer than 2 s, as on a busy machine."""


async def failed_steps(temporal: Client, workflow: str) -> list[str]:
    """Why steps of a workflow failed; each of them is a defect, and a run that stands still."""
    found = []
    async for event in temporal.get_workflow_handle(workflow).fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            failed = event.workflow_task_failed_event_attributes
            cause = WorkflowTaskFailedCause.Name(failed.cause)
            cause = cause.removeprefix("WORKFLOW_TASK_FAILED_CAUSE_")
            if cause not in HARMLESS and not failed.failure.message.startswith(SLOW):
                found.append(f"{cause}: {failed.failure.message}")
    return found
