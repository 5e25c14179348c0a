"""Assembling a worker process from the packages: its settings, connections and roles.

Decides nothing about a rollout. Must not import `starter` or `deploy`.
"""

from wiring.leading import Part, ProcessContext
from wiring.parts import MANAGER, parts_of
from wiring.settings import PlacementKind, Role, Settings, Snapshots, Upgrade, problems

__all__ = [
    "MANAGER",
    "Part",
    "PlacementKind",
    "ProcessContext",
    "Role",
    "Settings",
    "Snapshots",
    "Upgrade",
    "parts_of",
    "problems",
]
