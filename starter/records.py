"""The objects of a placement: its snapshots, which clusters have them, their content, its runs."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from api import names
from api.base import ObjectMeta
from api.bindings import Binding
from api.kinds import Scope
from api.runs import UpdateRun
from hub import Hub, Json
from placement.snapshots import would_take
from planning.placements import snapshotting
from planning.placements.selecting import SelectionError, SelectionRules
from planning.placements.snapshotting import Revision, index_of
from planning.resource_order import position
from planning.runs import lifecycle
from starter import words
from starter.failures import CommandFailure, ExitCode
from starter.targets import Target


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


async def read_versions(hub: Hub, scope: Scope, placement: str, *, namespace: str) -> Versions:
    """Read a placement's snapshots and bindings. Raises HubError."""
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    bindings, snapshots = await asyncio.gather(
        hub.list(scope.binding, namespace=namespace, labels=labels),
        hub.list(scope.resource_snapshot, namespace=namespace, labels=labels),
    )
    return versions_of(snapshots.items, map(Binding.from_wire, bindings.items))


def versions_of(snapshots: Sequence[Json], bindings: Iterable[Binding]) -> Versions:
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


# -- the record ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """The stored snapshots of a placement, and the runs that used them."""

    placement: str
    versions: Versions
    runs: Sequence[UpdateRun]
    """Runs of the placement."""
    names: Collection[str]
    """Names of all runs in the same scope and namespace, which a new run cannot have."""

    @property
    def active(self) -> list[UpdateRun]:
        """The active runs of the placement."""
        return [each for each in self.runs if lifecycle.is_active(each)]

    def users(self, index: str) -> list[str]:
        """Return the names of the runs that rolled out a snapshot, or plan to."""
        used = (each for each in self.runs if each.status.resource_snapshot_index_used == index)
        return sorted(each.metadata.name for each in used)

    def version(self, index: str) -> Version:
        """Return a snapshot by its index, or `latest`.

        Raises CommandFailure if it is missing or incomplete.
        """
        stored = self.versions.stored
        found = self.versions.latest if index == "latest" else stored.get(index)
        if found is None:
            have = f"it has {', '.join(stored)}" if stored else "it has no snapshots yet"
            raise CommandFailure(
                f"placement {self.placement} has no snapshot {index}; {have}",
                exit_code=ExitCode.NOT_FOUND,
            )
        if found.missing:
            missing = words.count(found.missing, "part")
            raise CommandFailure(f"snapshot {found.index} is incomplete: {missing} missing")
        return found


async def read(hub: Hub, target: Target, placement: str) -> Record:
    """Read the record of a placement. Raises NotFound if the placement does not exist."""
    await hub.get(target.scope.placement, placement, namespace=target.namespace)
    stored, found = await asyncio.gather(
        read_versions(hub, target.scope, placement, namespace=target.namespace),
        hub.list(target.scope.run, namespace=target.namespace),
    )
    runs = [UpdateRun.from_wire(each) for each in found.items]
    return Record(
        placement=placement,
        versions=stored,
        runs=[each for each in runs if each.spec.placement_name == placement],
        names={each.metadata.name for each in runs},
    )


# -- content by name -----------------------------------------------------------------------


NOW = "now"


@dataclass(frozen=True, slots=True)
class ComparedContent:
    """The content on one side of a comparison."""

    title: str
    resources: Sequence[Json]
    version: Version | None = None
    """None for the hub's content, which is not stored as a snapshot."""


async def content(
    hub: Hub, target: Target, known: Record, word: str, *, rules: SelectionRules
) -> ComparedContent:
    """Read the content that a word names. Raises CommandFailure if it does not exist."""
    if word != NOW:
        version = known.version(word)
        return ComparedContent(f"snapshot {version.index}", version.resources, version)
    try:
        _, resources = await would_take(
            hub,
            scope=target.scope,
            namespace=target.namespace,
            placement=known.placement,
            rules=rules,
        )
    except SelectionError as error:
        raise CommandFailure(str(error), advice="fix the placement's resourceSelectors") from error
    return ComparedContent("hub now", resources)
