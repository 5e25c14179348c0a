"""Writing conditions as other software does, and reading those of an object."""

from datetime import UTC, datetime

from api.base import format_time
from hub import Json

AT = "2026-01-02T03:04:05Z"
"""Transition time of conditions in tests without a hub."""


def condition(
    kind: str,
    status: str = "True",
    generation: int | None = 1,
    *,
    reason: str = "",
    message: str = "",
    at: datetime | str = "",
) -> Json:
    """Return a condition, by default as of now; with generation None, no observedGeneration."""
    moment = at or datetime.now(UTC)
    written = {
        "type": kind,
        "status": status,
        "reason": reason or kind,
        "message": message,
        "lastTransitionTime": moment if isinstance(moment, str) else format_time(moment),
    }
    return written | ({} if generation is None else {"observedGeneration": generation})


def conditions_of(body: Json | None) -> dict[str, Json]:
    """Return the conditions of an object, a stage, a cluster, a task or a manifest by type."""
    found = body or {}
    listed = found.get("status", found).get("conditions", [])
    return {each["type"]: each for each in listed}


def condition_of(body: Json | None, kind: str) -> Json:
    """Return the condition with this type; empty if it is missing."""
    return conditions_of(body).get(kind, {})


def says(body: Json | None, kind: str) -> tuple[str, str, str]:
    """Return status, reason and message of a condition; all empty if it is missing."""
    found = condition_of(body, kind)
    return found.get("status", ""), found.get("reason", ""), found.get("message", "")
