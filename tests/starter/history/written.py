"""A workflow's history that a test writes event by event."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel
from temporalio.api.common.v1 import ActivityType, Payload, Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import (
    ActivityTaskCompletedEventAttributes,
    ActivityTaskFailedEventAttributes,
    ActivityTaskScheduledEventAttributes,
    HistoryEvent,
    WorkflowExecutionSignaledEventAttributes,
    WorkflowExecutionUpdateAcceptedEventAttributes,
    WorkflowExecutionUpdateCompletedEventAttributes,
)
from temporalio.api.update.v1 import Input, Outcome, Request
from temporalio.contrib.pydantic import pydantic_data_converter

from starter.history import of_workflow
from starter.history.entries import HistoryEntry

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CONVERTER = pydantic_data_converter.payload_converter


class Written:
    """A history in which each event comes a second after the one before."""

    def __init__(self) -> None:
        self.events: list[HistoryEvent] = []

    def entries(self) -> list[HistoryEntry]:
        """Read the entries of the history."""
        return of_workflow.entries(self.events, CONVERTER)

    def add(self, kind: str, **attributes: Any) -> int:
        """Write an event and return its id."""
        number = len(self.events) + 1
        event = HistoryEvent(
            event_id=number, event_type=EventType.Value(f"EVENT_TYPE_{kind}"), **attributes
        )
        event.event_time.FromDatetime(BEGIN + timedelta(seconds=number))
        self.events.append(event)
        return number

    def signal(self, name: str, message: BaseModel | None = None, *, identity: str = "") -> None:
        """Write the event of a received signal."""
        found = WorkflowExecutionSignaledEventAttributes(
            signal_name=name, input=payloads(message), identity=identity
        )
        self.add("WORKFLOW_EXECUTION_SIGNALED", workflow_execution_signaled_event_attributes=found)

    def update(self, name: str, message: BaseModel, *, fault: str = "") -> None:
        """Write the events of an update that was accepted, and that then failed if so told."""
        asked = Input(name=name, args=payloads(message))
        accepted = self.add(
            "WORKFLOW_EXECUTION_UPDATE_ACCEPTED",
            workflow_execution_update_accepted_event_attributes=(
                WorkflowExecutionUpdateAcceptedEventAttributes(
                    accepted_request=Request(input=asked)
                )
            ),
        )
        outcome = Outcome(failure=Failure(message=fault)) if fault else Outcome(success=Payloads())
        self.add(
            "WORKFLOW_EXECUTION_UPDATE_COMPLETED",
            workflow_execution_update_completed_event_attributes=(
                WorkflowExecutionUpdateCompletedEventAttributes(
                    accepted_event_id=accepted, outcome=outcome
                )
            ),
        )

    def activity(
        self, name: str, request: BaseModel, answer: BaseModel | None = None, *, fault: str = ""
    ) -> None:
        """Write the events of an activity, which ends if it has an answer or a fault."""
        scheduled = self.add(
            "ACTIVITY_TASK_SCHEDULED",
            activity_task_scheduled_event_attributes=ActivityTaskScheduledEventAttributes(
                activity_type=ActivityType(name=name), input=payloads(request)
            ),
        )
        if answer:
            completed = ActivityTaskCompletedEventAttributes(
                scheduled_event_id=scheduled, result=payloads(answer)
            )
            self.add("ACTIVITY_TASK_COMPLETED", activity_task_completed_event_attributes=completed)
        if fault:
            failed = ActivityTaskFailedEventAttributes(
                scheduled_event_id=scheduled, failure=Failure(message=fault)
            )
            self.add("ACTIVITY_TASK_FAILED", activity_task_failed_event_attributes=failed)


def payloads(message: BaseModel | None) -> Payloads:
    """Encode one argument, or none."""
    found: list[Payload] = [CONVERTER.to_payload(message)] if message else []
    return Payloads(payloads=found)
