"""The number and size of the events that Temporal would write for an execution, and its limits."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

BYTES: Final = {
    "WORKFLOW_EXECUTION_STARTED": 851,
    "WORKFLOW_EXECUTION_CONTINUED_AS_NEW": 539,
    "WORKFLOW_EXECUTION_UPDATE_ACCEPTED": 265,
    "WORKFLOW_EXECUTION_UPDATE_COMPLETED": 175,
    "WORKFLOW_EXECUTION_SIGNALED": 45,
    "WORKFLOW_TASK_SCHEDULED": 52,
    "WORKFLOW_TASK_STARTED": 113,
    "WORKFLOW_TASK_COMPLETED": 78,
    "ACTIVITY_TASK_SCHEDULED": 156,
    "ACTIVITY_TASK_STARTED": 107,
    "ACTIVITY_TASK_COMPLETED": 42,
    "MARKER_RECORDED": 309,
    "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES": 121,
    "TIMER_FIRED": 30,
}
"""Mean size of an event without its payloads, measured on the recorded histories of 0.1.0."""
OTHER_BYTES: Final = 90


class LimitExceededError(AssertionError):
    """Temporal would have terminated the workflow or refused a request."""


@dataclass(frozen=True)
class Limits:
    """Temporal's default limits."""

    events: int = 51_200
    bytes: int = 50 * 1024 * 1024
    pending_activities: int = 2_000
    payload_bytes: int = 2 * 1024 * 1024
    suggest_events: int = 4_096
    """Number of events after which Temporal suggests to continue as new."""
    suggest_bytes: int = 4 * 1024 * 1024


class History:
    """The events of one execution, counted by type."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.by_type: Counter[str] = Counter()
        self.activities: Counter[str] = Counter()
        """Number of scheduled activities by type; local ones are markers instead."""
        self.size = 0
        """Approximate size in bytes."""

    @property
    def events(self) -> int:
        """Number of events."""
        return self.by_type.total()

    @property
    def is_long(self) -> bool:
        """Whether Temporal suggests to continue as new."""
        limits = self._limits
        return self.events >= limits.suggest_events or self.size >= limits.suggest_bytes

    def add(self, *types: str, payload: int = 0) -> None:
        """Add events with `payload` bytes of payload in total.

        Raises LimitExceededError: Temporal would terminate the workflow, or refuse the payload.
        """
        self.by_type.update(types)
        self.size += payload + sum(BYTES.get(each, OTHER_BYTES) for each in types)
        limits = self._limits
        if payload > limits.payload_bytes:
            raise LimitExceededError(f"{types[0]} with {payload} bytes of payload")
        if self.events > limits.events or self.size > limits.bytes:
            raise LimitExceededError(f"a history of {self.events} events, {self.size} bytes")

    def take_back(self, *types: str) -> None:
        """Drop the events of a workflow task without effect, such as one with a refused update."""
        self.by_type.subtract(types)
        self.size -= sum(BYTES.get(each, OTHER_BYTES) for each in types)
