"""What a fleetgate process shows of itself: log, health, metrics and traces.

Knows nothing about hubs, runs or workflows, and imports no other package of fleetgate.
"""

from telemetry.health import AddressError, ProcessHealth, register_readiness, serve_health
from telemetry.hub_metrics import (
    HUB_OF_AGENT,
    MEMBER_OF_AGENT,
    register_client,
    register_hub_answers,
    register_hub_requests,
    register_hub_watches,
)
from telemetry.leadership import LeadershipMetrics
from telemetry.logs import LogFormat, configure_logging, log_about, logged_about
from telemetry.metrics import process_registry
from telemetry.temporal import temporal_runtime
from telemetry.temporal_metrics import TemporalMetrics
from telemetry.tracing import Tracer, Tracing, TracingError, start_tracing

__all__ = [
    "HUB_OF_AGENT",
    "MEMBER_OF_AGENT",
    "AddressError",
    "LeadershipMetrics",
    "LogFormat",
    "ProcessHealth",
    "TemporalMetrics",
    "Tracer",
    "Tracing",
    "TracingError",
    "configure_logging",
    "log_about",
    "logged_about",
    "process_registry",
    "register_client",
    "register_hub_answers",
    "register_hub_requests",
    "register_hub_watches",
    "register_readiness",
    "serve_health",
    "start_tracing",
    "temporal_runtime",
]
