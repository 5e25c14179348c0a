"""Snapshots of an override: when to create one, and which to delete.

contract: placement 9 (snapshots)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from api import names
from api.base import OwnerReference
from planning import hashing, integers

Json = dict[str, Any]

KEPT: Final = 10
"""Snapshots kept per override, as many as KubeFleet keeps."""


@dataclass(frozen=True, slots=True)
class SnapshotPlan:
    """Writes that make the latest snapshot match the override, in this order.

    The new snapshot is created before the old one loses its mark, so that a run that starts in
    between does not miss the override. It uses the newer of two (`Overrides.latest`).
    """

    superfluous: tuple[str, ...]
    """Names of snapshots to delete, unless they are still in use."""
    create: Json | None = None
    promote: str = ""
    """Name of the snapshot to mark as the latest; empty for none."""
    demote: tuple[str, ...] = ()
    """Names of snapshots that lose that mark."""


def plan(override: Json, known: Sequence[Json], *, owner: OwnerReference) -> SnapshotPlan:
    """Keep the newest snapshot if it has the same content, otherwise create the next one."""
    ordered = sorted(known, key=index)
    newest = ordered[-1] if ordered else None
    digest = hashing.override_hash(override["spec"])
    if newest is not None and newest["spec"].get("overrideHash") == digest:
        return SnapshotPlan(
            superfluous=_beyond(ordered, KEPT),
            promote="" if _is_marked(newest) else newest["metadata"]["name"],
            demote=_marked(ordered[:-1]),
        )
    following = index(newest) + 1 if newest is not None else 0
    return SnapshotPlan(
        superfluous=_beyond(ordered, KEPT - 1),
        create=_body(override, owner, index=following, digest=digest),
        demote=_marked(ordered),
    )


def index(snapshot: Json) -> int:
    """Return the index of an override's snapshot; -1 if it has none."""
    number = snapshot["metadata"].get("labels", {}).get(names.OVERRIDE_INDEX, "")
    return integers.known(number, otherwise=-1)


def _beyond(ordered: Sequence[Json], count: int) -> tuple[str, ...]:
    return tuple(each["metadata"]["name"] for each in ordered[: max(0, len(ordered) - count)])


def _is_marked(snapshot: Json) -> bool:
    labels = snapshot["metadata"].get("labels", {})
    return bool(labels.get(names.IS_LATEST_SNAPSHOT) == "true")


def _marked(snapshots: Sequence[Json]) -> tuple[str, ...]:
    return tuple(each["metadata"]["name"] for each in snapshots if _is_marked(each))


def _body(override: Json, owner: OwnerReference, *, index: int, digest: str) -> Json:
    of = override["metadata"]
    metadata: Json = {
        "name": f"{of['name']}-{index}",
        "labels": {
            names.PARENT_RESOURCE_OVERRIDE: of["name"],
            names.IS_LATEST_SNAPSHOT: "true",
            names.OVERRIDE_INDEX: str(index),
        },
        "ownerReferences": [owner.to_wire()],
    }
    if "namespace" in of:
        metadata["namespace"] = of["namespace"]
    # Copied unchanged: a model would drop values that are null on purpose.
    return {
        "metadata": metadata,
        "spec": {"overrideSpec": override["spec"], "overrideHash": digest},
    }
