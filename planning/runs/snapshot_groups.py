"""The objects that store one snapshot of a placement's content: a master and its parts.

contract: update-runs 7.7, placement 5
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.names import NUMBER_OF_RESOURCE_SNAPSHOTS
from planning import failures, integers
from planning.placements.snapshotting import is_master
from planning.runs import initialization

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SnapshotGroup:
    """All existing objects of one index."""

    master: Json
    objects: Sequence[Json]
    """The master and its parts."""
    placement: str
    """Key of the placement."""

    @property
    def name(self) -> str:
        """Name of the master, by which bindings refer to the group."""
        name: str = self.master["metadata"]["name"]
        return name

    @property
    def size(self) -> int:
        """Number of objects that the group should have, by its master.

        Raises:
            InitializationError: the master does not say.
        """
        count = self.master["metadata"]["annotations"].get(NUMBER_OF_RESOURCE_SNAPSHOTS, "")
        size = integers.known(count, otherwise=0)
        if size < 1:
            raise failures.MASTER_WITHOUT_COUNT.error(
                master=self.name, count=count, annotation=NUMBER_OF_RESOURCE_SNAPSHOTS
            )
        return size

    @property
    def whole(self) -> bool:
        """True when all objects exist; they are written one after the other."""
        return len(self.objects) >= self.size

    def resources(self) -> list[Json]:
        """Return the selected objects that the group stores.

        Raises:
            InitializationError: parts of the group are missing.
        """
        if not self.whole:
            raise failures.PARTS_MISSING.error(
                master=self.name, size=self.size, found=len(self.objects), key=self.placement
            )
        return [each for part in self.objects for each in part["spec"]["selectedResources"]]


def find(snapshots: Sequence[Json], *, index: str, placement: str) -> SnapshotGroup:
    """Return the group of an index; `placement` is a key.

    Raises:
        InitializationError: no object has the index, or none of them is a master.
    """
    if not snapshots:
        raise initialization.snapshot_missing(index, placement=placement)
    master = next(filter(is_master, snapshots), None)
    if master is None:
        raise initialization.master_missing(placement=placement)
    return SnapshotGroup(master=master, objects=snapshots, placement=placement)
