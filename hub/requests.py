"""Requests to an API server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Lane(StrEnum):
    """Types of requests: each lane has its own connections, so that none starves another."""

    WORK = "work"
    """Reads and writes: at most `Limits.connections`."""
    WATCHES = "watches"
    """Watches: each holds a connection for as long as it runs, without a limit."""
    LEASES = "leases"
    """Renewals of Leases: one request at a time for each Lease."""
    HEARTBEATS = "heartbeats"
    """Heartbeats of agents: at most `Limits.heartbeats`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to an API server."""

    verb: str
    """As in RBAC: get, list, watch, create, update, patch, delete, deletecollection; or apply."""
    resource: str
    """Plural with the subresource, such as `deployments/status`; counted together with the verb."""
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"
    lane: Lane = Lane.WORK
    """The lane whose connections it uses."""

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"
