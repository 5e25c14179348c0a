"""The Temporal SDK's core writes to the same log as everything else."""

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
"""A follower learns with its next heartbeat that its run has ended; the core finds that odd."""


def temporal_runtime(metrics: MetricBuffer | None = None) -> Runtime:
    """Make the runtime that a client is connected with; what it measures goes into a buffer."""
    # What a line is about is in its fields.
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
