"""The objects that store one index of a placement's content: a master and its parts.

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
    """All objects of one index that are there."""

    master: Json
    objects: Sequence[Json]
    """The master and its parts."""
    placement: str
    """Key of the placement."""

    @property
    def name(self) -> str:
        """Name of the master, by which bindings refer to the whole."""
        name: str = self.master["metadata"]["name"]
        return name

    @property
    def size(self) -> int:
        """How many objects the master says there are.

        Raises:
            InitializationError: it does not say so.
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
        """Whether all objects are there; they are written one after the other."""
        return len(self.objects) >= self.size

    def resources(self) -> list[Json]:
        """The selected objects that the group stores.

        Raises:
            InitializationError: parts of the group are not there.
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
    """Tell the master of an index from its parts; `placement` is a key.

    Raises:
        InitializationError: no object has the index, or none of them is a master.
    """
    if not snapshots:
        raise initialization.snapshot_missing(index, placement=placement)
    master = next(filter(is_master, snapshots), None)
    if master is None:
        raise initialization.master_missing(placement=placement)
    return SnapshotGroup(master=master, objects=snapshots, placement=placement)
