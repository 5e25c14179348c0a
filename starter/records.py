"""The objects of a placement: its snapshots, which clusters have them, their content, its runs."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from api.runs import UpdateRun
from hub import Hub, Json
from placement.snapshots import would_take
from planning.placements.selecting import SelectionError, SelectionRules
from planning.runs import lifecycle
from starter import versions, words
from starter.failures import ExitCode, Failure
from starter.targets import Target
from starter.versions import Version, Versions


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
        """Return a snapshot by its index, or `latest`. Raises Failure if missing or incomplete."""
        stored = self.versions.stored
        found = self.versions.latest if index == "latest" else stored.get(index)
        if found is None:
            have = f"it has {', '.join(stored)}" if stored else "it has no snapshots yet"
            raise Failure(
                f"placement {self.placement} has no snapshot {index}; {have}",
                exit_code=ExitCode.NOT_FOUND,
            )
        if found.missing:
            missing = words.count(found.missing, "part")
            raise Failure(f"snapshot {found.index} is incomplete: {missing} missing")
        return found


async def read(hub: Hub, target: Target, placement: str) -> Record:
    """Read the record of a placement. Raises NotFound if the placement does not exist."""
    await hub.get(target.scope.placement, placement, namespace=target.namespace)
    stored, found = await asyncio.gather(
        versions.read(hub, target.scope, placement, namespace=target.namespace),
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
class Content:
    """The content on one side of a comparison."""

    title: str
    resources: Sequence[Json]
    version: Version | None = None
    """None for the hub's content, which is not stored as a snapshot."""


async def content(
    hub: Hub, target: Target, known: Record, word: str, *, rules: SelectionRules
) -> Content:
    """Read the content that a word names. Raises Failure if it does not exist."""
    if word != NOW:
        version = known.version(word)
        return Content(f"snapshot {version.index}", version.resources, version)
    try:
        _, resources = await would_take(
            hub,
            scope=target.scope,
            namespace=target.namespace,
            placement=known.placement,
            rules=rules,
        )
    except SelectionError as error:
        raise Failure(str(error), advice="fix the placement's resourceSelectors") from error
    return Content("hub now", resources)
