"""How a process of fleetgate is seen from outside: its log, and its health and metrics over HTTP.

Knows nothing of hubs, runs or workflows, and imports no other room.
"""

from telemetry.health import AddressError, Health, serve_health
from telemetry.logs import LogFormat, configure_logging
from telemetry.metrics import process_registry, register_hub_requests
from telemetry.temporal import temporal_runtime

__all__ = [
    "AddressError",
    "Health",
    "LogFormat",
    "configure_logging",
    "process_registry",
    "register_hub_requests",
    "serve_health",
    "temporal_runtime",
]
