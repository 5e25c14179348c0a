"""Kubernetes events, which `kubectl describe` and `kubectl events` show for an object.

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
"""Namespace for events about cluster-scoped objects; the API server accepts no other."""
MAX_MESSAGE: Final = 1024
"""Bytes, the limit of events.k8s.io for a note."""
_MAX_PREFIX: Final = 200
"""Characters of the object's name in the event's name, which may have 253 in total."""


class EventType(StrEnum):
    """Type of an event; a warning needs a person's attention."""

    NORMAL = "Normal"
    WARNING = "Warning"


class Event(BaseModel):
    """Something that happened to an object. Stored in workflow history, so kept small."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: EventType = EventType.NORMAL
    reason: str
    """One word for programs."""
    message: str
    """A sentence for people."""
    at: datetime


@dataclass(frozen=True, slots=True)
class EventSubject:
    """The object that an event is about."""

    kind: Kind
    namespace: str
    """Empty for a cluster-scoped object."""
    name: str
    uid: str

    @classmethod
    def of(cls, run: RunRef) -> Self:
        """Return the subject of an update run."""
        return cls(run.scope.run, run.namespace, run.name, run.uid)


def spaced(events: Iterable[Event]) -> list[Event]:
    """Space simultaneous events a microsecond apart, so that sorting by time keeps their order."""
    return [
        event.model_copy(update={"at": event.at + timedelta(microseconds=position)})
        for position, event in enumerate(events)
    ]


def body(event: Event, about: EventSubject, *, key: str = "") -> dict[str, Any]:
    """Return the event as an object of the core group.

    Its name is derived from its content, so that writing it twice does not create a second one.
    With a `key`, events with the same key are the same event, whenever they are noticed.
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


def _reference(about: EventSubject) -> dict[str, str]:
    placed = {"namespace": about.namespace} if about.namespace else {}
    return placed | {
        "apiVersion": about.kind.api_version,
        "kind": about.kind.kind,
        "name": about.name,
        "uid": about.uid,
    }


def _moment(event: Event, about: EventSubject) -> str:
    # The time first, in hexadecimal like client-go: kubectl sorts by seconds and keeps the order
    # of names within a second.
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
