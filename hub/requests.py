"""What is asked of an API server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"
