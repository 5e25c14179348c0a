"""How a process of fleetgate is seen from outside: its log, and its health over HTTP.

Knows nothing of hubs, runs or workflows, and imports no other room.
"""

from telemetry.health import AddressError, Health, serve_health
from telemetry.logs import LogFormat, configure_logging
from telemetry.temporal import temporal_runtime

__all__ = [
    "AddressError",
    "Health",
    "LogFormat",
    "configure_logging",
    "serve_health",
    "temporal_runtime",
]
