"""Failed workflow tasks in the history of a workflow."""

from typing import Final

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.client import Client

HARMLESS: Final = frozenset({"UNHANDLED_COMMAND", "UNHANDLED_UPDATE", "FORCE_CLOSE_COMMAND"})
"""Causes without consequences: messages arrived during the task, or more than Temporal buffers; the
task is retried."""

SLOW: Final = "[TMPRL1101]"
"""Start of the SDK's message for a task that took longer than 2 s, as on a busy machine."""


async def failed_steps(temporal: Client, workflow: str) -> list[str]:
    """Return why workflow tasks failed; each failure is a defect, and the run would be stuck."""
    found = []
    async for event in temporal.get_workflow_handle(workflow).fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            failed = event.workflow_task_failed_event_attributes
            cause = WorkflowTaskFailedCause.Name(failed.cause)
            cause = cause.removeprefix("WORKFLOW_TASK_FAILED_CAUSE_")
            if cause not in HARMLESS and not failed.failure.message.startswith(SLOW):
                found.append(f"{cause}: {failed.failure.message}")
    return found
