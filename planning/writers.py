"""Who wrote a field of an object last, by the API server's books."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.base import ObjectMeta


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that wrote to an object. Who typed is not in the books."""

    name: str
    """Field manager, such as `kubectl-edit`."""
    at: datetime | None
    """When it wrote to the object last; the field itself it may have written earlier."""


def last_writer(metadata: ObjectMeta, *path: str) -> Writer | None:
    """The last to write the field at a path, such as `f:spec`, `f:state`; None if nobody owns it.

    Without the managed fields, as `kubectl get` leaves them out, nobody is known.
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
