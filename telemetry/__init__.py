"""How a process of fleetgate is seen from outside: its log, and its health and metrics over HTTP.

Knows nothing of hubs, runs or workflows, and imports no other room.
"""

from telemetry.health import AddressError, Health, register_readiness, serve_health
from telemetry.hub_metrics import (
    register_hub_answers,
    register_hub_requests,
    register_hub_watches,
)
from telemetry.logs import LogFormat, configure_logging, log_about, logged_about
from telemetry.metrics import process_registry
from telemetry.temporal import temporal_runtime
from telemetry.temporal_metrics import TemporalMetrics

__all__ = [
    "AddressError",
    "Health",
    "LogFormat",
    "TemporalMetrics",
    "configure_logging",
    "log_about",
    "logged_about",
    "process_registry",
    "register_hub_answers",
    "register_hub_requests",
    "register_hub_watches",
    "register_readiness",
    "serve_health",
    "temporal_runtime",
]
