"""The stored snapshots of a placement's content, and which cluster has which."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from api import names
from api.base import ObjectMeta
from api.bindings import Binding
from api.kinds import Scope
from hub import Hub, Json
from planning.placements import snapshotting
from planning.placements.snapshotting import Revision, index_of
from planning.resource_order import position


@dataclass(frozen=True, slots=True)
class Version:
    """One snapshot of a placement's content, put together from its snapshot objects."""

    index: str
    created: datetime | None
    latest: bool
    resources: Sequence[Json]
    """The selected objects, in the order in which members apply them."""
    missing: int = 0
    """Number of its snapshot objects that are not stored yet, or no longer."""


@dataclass(frozen=True, slots=True)
class Versions:
    """All stored snapshots, and the one that each bound cluster was given last."""

    stored: Mapping[str, Version] = field(default_factory=dict)
    """By index, oldest first."""
    has_now: Mapping[str, str] = field(default_factory=dict)
    """Index by cluster; empty if it has none, or one that is no longer stored."""

    @property
    def latest(self) -> Version | None:
        """The newest snapshot that is marked as the latest, or else the newest one."""
        found = list(self.stored.values())
        marked = [each for each in found if each.latest] or found
        return marked[-1] if marked else None

    def resources(self, index: str) -> Sequence[Json]:
        """Return the objects of a snapshot; empty if it is missing or incomplete."""
        found = self.stored.get(index)
        return found.resources if found and not found.missing else []

    def clusters(self, index: str) -> list[str]:
        """Return the clusters that have a snapshot, sorted by name."""
        return sorted(name for name, has in self.has_now.items() if has == index)


async def read(hub: Hub, scope: Scope, placement: str, *, namespace: str) -> Versions:
    """Read a placement's snapshots and bindings. Raises HubError."""
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    bindings, snapshots = await asyncio.gather(
        hub.list(scope.binding, namespace=namespace, labels=labels),
        hub.list(scope.resource_snapshot, namespace=namespace, labels=labels),
    )
    return of(snapshots.items, map(Binding.from_wire, bindings.items))


def of(snapshots: Sequence[Json], bindings: Iterable[Binding]) -> Versions:
    """Group the objects of each snapshot, and find out which cluster has which."""
    by_name = {each["metadata"]["name"]: each for each in snapshots}
    stored = {
        str(each.index): _version(each, by_name) for each in snapshotting.revisions(snapshots)
    }
    index = {name: index_of(each) for name, each in by_name.items()}
    specs = [each.spec for each in bindings]
    has_now = {each.target_cluster: index.get(each.resource_snapshot_name, "") for each in specs}
    return Versions(stored, has_now)


def _version(revision: Revision, by_name: Mapping[str, Json]) -> Version:
    parts = [by_name[name] for name in revision.objects]
    times = [ObjectMeta.from_wire(each["metadata"]).creation_timestamp for each in parts]
    resources = [each for part in parts for each in part["spec"]["selectedResources"]]
    return Version(
        index=str(revision.index),
        created=min((time for time in times if time), default=None),
        latest=revision.latest,
        resources=sorted(resources, key=position),
        missing=revision.size - len(parts),
    )
