"""From kubectl to Temporal: watches objects, starts workflows, sends signals.

Never writes a run's status: only the run's workflow does.
"""

from bridge.bridge import Bridge, BridgeSettings

__all__ = ["Bridge", "BridgeSettings"]
