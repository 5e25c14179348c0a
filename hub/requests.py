"""Requests to an API server, and the URL paths of its resources."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote

from api.kinds import NAMESPACE, Kind
from hub.errors import Details, NotFound


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
class ApiRequest:
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


# -- paths ---------------------------------------------------------------------------------


_POSSIBLE: Final = re.compile(r"(?!\.{1,2}$)[^/%\x00-\x20\x7f\ud800-\udfff]{1,253}")
"""What the API server may accept as a part of a path. `..` would lead to another path."""


def collection_path(kind: Kind, *, namespace: str = "") -> str:
    """Return the path of all objects of a kind, in one namespace or (if empty) in all.

    Raises NotFound if no namespace can have the name.
    """
    if kind.namespaced and namespace:
        return f"{kind.path}/namespaces/{_part(NAMESPACE, namespace)}/{kind.plural}"
    return f"{kind.path}/{kind.plural}"


def item_path(kind: Kind, name: str, *, namespace: str = "", subresource: str = "") -> str:
    """Return the path of one object. For a cluster-scoped kind, the namespace is ignored.

    Raises NotFound if no object can have the name.
    """
    if kind.namespaced and not namespace:
        raise ValueError(f"{kind} {name!r} needs a namespace")
    path = f"{collection_path(kind, namespace=namespace)}/{_part(kind, name)}"
    return f"{path}/{subresource}" if subresource else path


def _part(kind: Kind, name: str) -> str:
    if not _POSSIBLE.fullmatch(name):
        # Like the API server's error for an object that does not exist.
        raise NotFound(
            f"{kind} {name!r} not found: no object can have this name",
            details=Details(kind=kind.plural, name=repr(name)),
        )
    return quote(name, safe="")


def resource_of(kind: Kind, subresource: str = "") -> str:
    """Return the resource of a request as in RBAC, such as `deployments/status`."""
    return f"{kind.plural}/{subresource}" if subresource else kind.plural
