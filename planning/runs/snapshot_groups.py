"""The objects that store one snapshot of a placement's content: a master and its parts.

contract: update-runs 7.7, placement 5
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.names import NUMBER_OF_RESOURCE_SNAPSHOTS
from planning import integers
from planning.errors import invalid, unexpected
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
            raise invalid(
                unexpected(
                    f"master resource snapshot `{self.name}` has an invalid snapshot count "
                    f"`{count}` in annotation {NUMBER_OF_RESOURCE_SNAPSHOTS}"
                )
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
            raise invalid(
                "not all resource snapshot in the same index group are created: "
                "resource snapshots are still being created for the masterResourceSnapshot "
                f"{self.name}, total snapshot in the index group = {self.size}, num Of existing "
                f"snapshot in the group= {len(self.objects)}, placement = {self.placement}"
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
