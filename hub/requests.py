"""What is asked of an API server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Lane(StrEnum):
    """Connections of one sort of request: each lane has its own, so that none starves another."""

    WORK = "work"
    """Reads and writes: at most `Limits.connections`."""
    WATCHES = "watches"
    """Each holds a connection for as long as it lives, however many there are."""
    LEASES = "leases"
    """Requests by which a process says that it still leads: one at a time for each Lease."""
    HEARTBEATS = "heartbeats"
    """Requests by which an agent says that it is alive: at most `Limits.heartbeats`."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask of an API server."""

    verb: str
    """As in RBAC: get, list, watch, create, update, patch, delete, deletecollection; or apply."""
    resource: str
    """Plural, with the subresource: `deployments/status`. With the verb, what is counted."""
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"
    lane: Lane = Lane.WORK
    """Whose connections it takes."""

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"
