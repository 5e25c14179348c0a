"""Revisions of a placement's content: when a new one is due, how it is stored, which ones go.

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
"""Raw JSON in one snapshot object: etcd takes 1.5 MiB, and the object is more than its content."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One index of a placement's content, with the objects that store it."""

    index: int
    latest: bool
    hash: str
    size: int
    """How many objects store the whole content."""
    objects: frozenset[str]
    """Names of those that are there."""


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
    """The index of the revision that an object is a part of; empty when it does not say."""
    index: str = snapshot["metadata"].get("labels", {}).get(names.RESOURCE_INDEX, "")
    return index


def number_of(snapshot: Json) -> int:
    """The same as a number, to sort by; -1 of an object that does not say, or no number."""
    return integers.known(index_of(snapshot), otherwise=-1)


def is_master(snapshot: Json) -> bool:
    """Return whether the object is the first of its revision, the one that describes it."""
    return bool(snapshot["metadata"].get("annotations", {}).get(names.RESOURCE_HASH))


def current(known: Sequence[Revision]) -> Revision | None:
    """The latest revision: the newest marked so, or else (a writer died half way) the newest."""
    candidates = [each for each in known if each.latest] or known
    return candidates[-1] if candidates else None


def next_index(known: Sequence[Revision]) -> int:
    """Index for new content."""
    return known[-1].index + 1 if known else 0


def superfluous(known: Sequence[Revision], *, keep: int) -> list[Revision]:
    """Revisions to delete so that no more than `keep` are left, oldest first.

    Keeps the newest, where KubeFleet keeps any (contract: placement 12). Those that are still
    needed stay as well (`planning.placements.usage`).
    """
    return list(known[: max(0, len(known) - keep)])


def master_name(placement: str, index: int | str) -> str:
    """Name of the object that describes a revision."""
    return f"{placement}-{index}-snapshot"


def bodies(
    resources: Sequence[Json], *, placement: str, namespace: str, owner: OwnerReference, index: int
) -> list[Json]:
    """The objects that store a revision, without their kind; the master is the first."""
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
    """Fill one chunk after the other, in order; nothing at all is one empty chunk."""
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
