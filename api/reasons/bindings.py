"""Reasons and messages of bindings.

contract: placement 6, update-runs 5
"""

from enum import StrEnum
from typing import Final

from api.texts import Text


class BindingReason(StrEnum):
    """Reasons of a binding's conditions."""

    ROLLOUT_STARTED = "RolloutStarted"
    NOT_STARTED = "RolloutNotStartedYet"
    NO_OVERRIDE = "NoOverrideSpecified"
    OVERRIDDEN = "OverriddenSucceeded"
    OVERRIDE_FAILED = "OverriddenFailed"
    SYNCED = "AllWorkSynced"
    SYNC_FAILED = "SyncWorkFailed"
    APPLYING = "ApplyInProgress"
    NOT_ALL_APPLIED = "NotAllWorkHaveBeenApplied"
    APPLIED = "AllWorkHaveBeenApplied"
    NOT_ALL_AVAILABLE = "NotAllWorkAreAvailable"
    NOT_TRACKABLE = "NotAllWorkAreAvailabilityTrackable"
    AVAILABLE = "AllWorkAreAvailable"
    REPORTING_DIFF = "DiffReportInProgress"
    NOT_ALL_DIFFED = "NotAllWorkHaveDiffReported"
    DIFFED = "AllWorkHaveDiffReported"


class BindingMessage(StrEnum):
    """Messages of a binding's conditions without parameters."""

    ROLLOUT_STARTED = "Detected the new changes on the resources and started the rollout process"
    """For placements of type RollingUpdate; a run adds its index and name to it."""
    BLOCKED = "The resources cannot be updated to the latest because of the rollout strategy"
    NO_OVERRIDE = "No override rules are configured for the selected resources"
    OVERRIDDEN = "Successfully applied the override rules on the resources"
    SYNCED = "All of the works are synchronized to the latest"
    APPLYING = "Resources are being applied"
    APPLIED = "All corresponding work objects are applied"
    AVAILABLE = "All corresponding work objects are available"
    REPORTING_DIFF = "Diff reporting on resources is in progress"
    DIFFED = "All corresponding work objects have reported diff"
    NO_SNAPSHOT = "the master resource snapshot is not found"
    """The error when the binding's resource snapshot is missing or being deleted."""


STARTED_BY_RUN: Final = Text(
    f"{BindingMessage.ROLLOUT_STARTED}, resourceSnapshotIndex: {{index}}, updateRun: {{run}}"
)
"""Message of RolloutStarted set by a run; `index` is the one used (contract decision 9)."""


def override_failed(error: str) -> str:
    """Return the message of Overridden False."""
    return f"Failed to apply the override rules on the resources: {error}"


def sync_failed(error: str) -> str:
    """Return the message of WorkSynchronized False."""
    return f"Failed to synchronize the work to the latest: {error}"


def work_still_applying(work: str) -> str:
    """Return the message of Applied False when the member has not reported yet."""
    return f"Work object {work} has not yet completed the apply op"


def work_not_applied(work: str) -> str:
    """Return the message of Applied False when the member has reported a failure."""
    return f"Work object {work} has failed to apply"


def work_not_checked(work: str) -> str:
    """Return the message of Available False when the member has not reported yet."""
    return f"Work object {work} has not yet completed availability check"


def work_not_available(work: str) -> str:
    """Return the message of Available False when the member has reported it."""
    return f"Work object {work} is not yet available"


def work_not_trackable(work: str) -> str:
    """Return the message of Available True when availability cannot be tracked."""
    return f"The availability of work object {work} is not trackable"


def work_still_diffing(work: str) -> str:
    """Return the message of DiffReported False when the member has not reported yet."""
    return f"Work object {work} has not yet completed diff reporting"


def work_not_diffed(work: str) -> str:
    """Return the message of DiffReported False when the member has reported a failure."""
    return f"Work object {work} has failed to report diff"
