"""Built-in placement on the hub.

Selects, snapshots, schedules, binds, renders Works and reports the status of placements. Does
not know Temporal, and nothing outside may depend on it being there: another system may do all
this. Must not import `bridge`, `workflows`, `activities` or `agent`.
"""

from placement.room import Placement
from placement.selection import SelectionError
from placement.settings import PlacementSettings
from placement.snapshots import SnapshotTaken, take_snapshot

__all__ = ["Placement", "PlacementSettings", "SelectionError", "SnapshotTaken", "take_snapshot"]
