"""Tracing with OpenTelemetry, from the start of a run through each of its steps.

Needs the packages of the extra `fleetgate[tracing]`, which are imported only if tracing is turned
on. OpenTelemetry's own variables (OTEL_…) set where traces go and which are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from temporalio.contrib.opentelemetry import TracingInterceptor

SERVICE: Final = "fleetgate"
"""Name of the service, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets another."""


class Tracing(StrEnum):
    """Where traces are sent."""

    NONE = "none"
    """No traces are recorded."""
    OTLP = "otlp"
    """Sent over HTTP to OTEL_EXPORTER_OTLP_ENDPOINT or http://localhost:4318."""


class TracingError(RuntimeError):
    """Tracing cannot be turned on; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Tracer:
    """Tracing that is turned on."""

    interceptor: "TracingInterceptor"
    """Interceptor for the Temporal client, and so for the workers that use it."""
    close: Callable[[], None]
    """Sends the remaining traces; blocks for at most some seconds."""


def start_tracing() -> Tracer:
    """Start tracing. Raises TracingError if its packages are not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from temporalio.contrib.opentelemetry import TracingInterceptor
    except ImportError as error:
        raise TracingError(
            f"FLEETGATE_TRACING is 'otlp', but {error.name} is not installed: "
            "install fleetgate[tracing], or unset the variable"
        ) from error
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: SERVICE}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracer(TracingInterceptor(provider.get_tracer(SERVICE)), provider.shutdown)
