"""Tracing with OpenTelemetry: from the start of a run through each of its steps.

Needs the packages of the extra `fleetgate[tracing]`, which are imported only where it is switched
on. Where traces go and which are kept is said by OpenTelemetry's own variables (OTEL_…).
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from temporalio.contrib.opentelemetry import TracingInterceptor

SERVICE: Final = "fleetgate"
"""Name of the service unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES have another."""


class Tracing(StrEnum):
    """How traces leave the process."""

    NONE = "none"
    """They are not made."""
    OTLP = "otlp"
    """Over HTTP, to OTEL_EXPORTER_OTLP_ENDPOINT or http://localhost:4318."""


class TracingError(RuntimeError):
    """Tracing cannot be switched on; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Tracer:
    """Tracing that is switched on."""

    interceptor: "TracingInterceptor"
    """For the Temporal client, and so for the workers that use it."""
    close: Callable[[], None]
    """Sends what is left; blocks for some seconds at most."""


def start_tracing() -> Tracer:
    """Make the tracer. Raises TracingError when its packages are not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from temporalio.contrib.opentelemetry import TracingInterceptor
    except ImportError as error:
        raise TracingError(
            f"FLEETGATE_TRACING is 'otlp', but {error.name} is not installed: "
            "install fleetgate[tracing], or leave the variable out"
        ) from error
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: SERVICE}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracer(TracingInterceptor(provider.get_tracer(SERVICE)), provider.shutdown)
