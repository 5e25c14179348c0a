"""Kubernetes events: what `kubectl describe` and `kubectl events` tell people of an object.

contract: decisions 12 and 13
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict

from api.base import format_time
from api.kinds import Kind
from planning.identity import RunRef

REPORTER: Final = "fleetgate"
"""Reporting controller of all events."""
CLUSTER_NAMESPACE: Final = "default"
"""Where events of objects without a namespace go; the API server takes them nowhere else."""
MAX_MESSAGE: Final = 1024
"""Bytes, as many as events.k8s.io allows a note."""
_MAX_PREFIX: Final = 200
"""Characters of the object's name in the event's name, which may have 253 in all."""


class EventType(StrEnum):
    """Whether a person has to look."""

    NORMAL = "Normal"
    WARNING = "Warning"


class Event(BaseModel):
    """Something that happened to an object. Travels through workflow history, so it is small."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: EventType = EventType.NORMAL
    reason: str
    """One word for programs."""
    message: str
    """A sentence for people."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that an event is about."""

    kind: Kind
    namespace: str
    """Empty for a cluster-scoped object."""
    name: str
    uid: str

    @classmethod
    def of(cls, run: RunRef) -> Self:
        """An update run."""
        return cls(run.scope.run, run.namespace, run.name, run.uid)


def spaced(events: Iterable[Event]) -> list[Event]:
    """Events of one moment, a microsecond apart: sorted by time they stay in their order."""
    return [
        event.model_copy(update={"at": event.at + timedelta(microseconds=position)})
        for position, event in enumerate(events)
    ]


def body(event: Event, about: Subject, *, key: str = "") -> dict[str, Any]:
    """The event as an object of the core group.

    Its name follows from what happened, so that writing it twice makes no second one. With a
    `key`, what has the same key is the same event, whenever it is noticed.
    """
    prefix = about.name[:_MAX_PREFIX].rstrip("-.")
    seconds = format_time(event.at)
    return {
        "metadata": {
            "name": f"{prefix}.{_digest(about.uid, key) if key else _moment(event, about)}",
            "namespace": about.namespace or CLUSTER_NAMESPACE,
        },
        "involvedObject": _reference(about),
        "type": event.type.value,
        "reason": event.reason,
        "message": _bounded(event.message),
        "action": event.reason,
        "source": {"component": REPORTER},
        "reportingComponent": REPORTER,
        "reportingInstance": REPORTER,
        "count": 1,
        "eventTime": event.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "firstTimestamp": seconds,
        "lastTimestamp": seconds,
    }


def _reference(about: Subject) -> dict[str, str]:
    placed = {"namespace": about.namespace} if about.namespace else {}
    return placed | {
        "apiVersion": about.kind.api_version,
        "kind": about.kind.kind,
        "name": about.name,
        "uid": about.uid,
    }


def _moment(event: Event, about: Subject) -> str:
    # The time first, in hexadecimal as client-go has it: kubectl sorts by seconds and keeps the
    # order of names within one.
    since = event.at - datetime.fromtimestamp(0, UTC)
    microseconds = since // timedelta(microseconds=1)
    return f"{microseconds:x}.{_digest(about.uid, event.reason, event.message)}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def _bounded(message: str) -> str:
    if len(message.encode()) <= MAX_MESSAGE:
        return message
    kept = message.encode()[: MAX_MESSAGE - len("…".encode())]
    return kept.decode(errors="ignore") + "…"
