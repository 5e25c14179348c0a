"""From kubectl to Temporal: watches objects, starts workflows, sends them signals.

Never writes a run's status: the run's workflow is the only writer of it.
"""

from bridge.room import Bridge, BridgeSettings

__all__ = ["Bridge", "BridgeSettings"]
