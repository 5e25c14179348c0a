"""The runtime of the Temporal SDK, whose core logs to the same log as everything else."""

import logging
from typing import Final

from temporalio import activity, workflow
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    MetricBuffer,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

_EXPECTED: Final = "Activity not found on completion"
"""A warning of the SDK's core that is expected here: a follower learns only from its next heartbeat
that its run has ended."""


def temporal_runtime(metrics: MetricBuffer | None = None) -> Runtime:
    """Return a new runtime to connect a client with; its metrics go into the buffer."""
    # Not in the message: the fields of a log line say what it is about.
    activity.logger.activity_info_on_message = False
    workflow.logger.workflow_info_on_message = False
    logger = logging.getLogger("temporal")
    logger.addFilter(lambda record: _EXPECTED not in record.getMessage())
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(
                filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
                forwarding=LogForwardingConfig(logger=logger, append_target_to_name=False),
            ),
            metrics=metrics,
        )
    )
