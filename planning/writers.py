"""Who last wrote a field of an object, by its managed fields."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.base import ObjectMeta


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that wrote to an object. Managed fields do not name the user."""

    name: str
    """Field manager, such as `kubectl-edit`."""
    at: datetime | None
    """When it last wrote to the object; it may have written the field itself earlier."""


def last_writer(metadata: ObjectMeta, *path: str) -> Writer | None:
    """Return the last writer of the field at a path such as `f:spec`, `f:state`.

    None if no writer owns it, or without managed fields, which `kubectl get` omits.
    """
    entries: list[dict[str, Any]] = (metadata.model_extra or {}).get("managedFields", [])
    owners = [each for each in entries if _owns(each.get("fieldsV1", {}), path)]
    if not owners:
        return None
    last = max(owners, key=lambda each: (each.get("time", ""), each["manager"]))
    at = last.get("time")
    return Writer(last["manager"], datetime.fromisoformat(at) if at else None)


def _owns(fields: dict[str, Any], path: tuple[str, ...]) -> bool:
    for name in path:
        if name not in fields:
            return False
        fields = fields[name]
    return True
