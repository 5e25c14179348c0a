"""Snapshots of a placement's content: when to create one, how to store it, and which to delete.

A snapshot is stored as one object or several, a master and its parts, with the same index.

contract: placement 5
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from api import names
from api.base import OwnerReference
from planning import hashing, integers
from planning.envelopes import is_envelope

Json = dict[str, Any]

CHUNK_BYTES: Final = 800 * 1024
"""Raw JSON in one snapshot object: etcd accepts 1.5 MiB, and an object is more than its content."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One snapshot of a placement's content, with the objects that store it."""

    index: int
    latest: bool
    hash: str
    size: int
    """Number of objects that store the whole content."""
    objects: frozenset[str]
    """Names of those that exist."""


def revisions(snapshots: Iterable[Json]) -> list[Revision]:
    """Group a placement's snapshot objects by index, oldest first."""
    groups: dict[int, list[Json]] = {}
    for snapshot in snapshots:
        index = number_of(snapshot)
        if index >= 0 and "deletionTimestamp" not in snapshot["metadata"]:
            groups.setdefault(index, []).append(snapshot)
    return [_revision(index, groups[index]) for index in sorted(groups)]


def _revision(index: int, group: list[Json]) -> Revision:
    master = next((each for each in group if is_master(each)), None)
    annotations = master["metadata"]["annotations"] if master else {}
    labels = master["metadata"]["labels"] if master else {}
    return Revision(
        index=index,
        latest=labels.get(names.IS_LATEST_SNAPSHOT) == "true",
        hash=annotations.get(names.RESOURCE_HASH, ""),
        size=integers.known(annotations.get(names.NUMBER_OF_RESOURCE_SNAPSHOTS, ""), otherwise=1),
        objects=frozenset(each["metadata"]["name"] for each in group),
    )


def index_of(snapshot: Json) -> str:
    """Return the index of the snapshot that an object belongs to; empty if it does not say."""
    index: str = snapshot["metadata"].get("labels", {}).get(names.RESOURCE_INDEX, "")
    return index


def number_of(snapshot: Json) -> int:
    """Return the index as a number, to sort by; -1 if the object does not have a valid one."""
    return integers.known(index_of(snapshot), otherwise=-1)


def is_master(snapshot: Json) -> bool:
    """Return whether the object is the master of its snapshot, which describes it."""
    return bool(snapshot["metadata"].get("annotations", {}).get(names.RESOURCE_HASH))


def current(known: Sequence[Revision]) -> Revision | None:
    """Return the latest snapshot: the newest marked one, or if a writer was killed, the newest."""
    candidates = [each for each in known if each.latest] or known
    return candidates[-1] if candidates else None


def next_index(known: Sequence[Revision]) -> int:
    """Return the index for new content."""
    return known[-1].index + 1 if known else 0


def superfluous(known: Sequence[Revision], *, keep: int) -> list[Revision]:
    """Return the snapshots to delete so that at most `keep` are left, oldest first.

    Keeps the newest, while KubeFleet keeps any (contract: placement 12). Those that are still in
    use must be kept as well (`planning.runs.usage`).
    """
    return list(known[: max(0, len(known) - keep)])


def master_name(placement: str, index: int | str) -> str:
    """Return the name of a snapshot's master."""
    return f"{placement}-{index}-snapshot"


def bodies(
    resources: Sequence[Json], *, placement: str, namespace: str, owner: OwnerReference, index: int
) -> list[Json]:
    """Return the objects that store a snapshot, without their kind; the master comes first."""
    chunks = _chunks(resources)
    labels = {names.PARENT_PLACEMENT: placement, names.RESOURCE_INDEX: str(index)}
    metadata: Json = {"ownerReferences": [owner.to_wire()], "labels": labels}
    if namespace:
        metadata["namespace"] = namespace
    master = {
        "name": master_name(placement, index),
        "labels": labels | {names.IS_LATEST_SNAPSHOT: "true"},
        "annotations": {
            names.RESOURCE_HASH: hashing.resources_hash(resources),
            names.NUMBER_OF_RESOURCE_SNAPSHOTS: str(len(chunks)),
            names.NUMBER_OF_ENVELOPED_OBJECTS: str(sum(map(is_envelope, resources))),
        },
    }
    parts = [
        {"name": f"{placement}-{index}-{part}", "annotations": {names.SUBINDEX: str(part)}}
        for part in range(len(chunks) - 1)
    ]
    return [
        {"metadata": metadata | own, "spec": {"selectedResources": chunk}}
        for own, chunk in zip([master, *parts], chunks, strict=True)
    ]


def _chunks(resources: Sequence[Json]) -> list[list[Json]]:
    """Fill one chunk after the other, in order; without resources, return one empty chunk."""
    chunks: list[list[Json]] = [[]]
    filled = 0
    for resource in resources:
        size = hashing.raw_size(resource)
        if chunks[-1] and filled + size > CHUNK_BYTES:
            chunks.append([])
            filled = 0
        chunks[-1].append(resource)
        filled += size
    return chunks
