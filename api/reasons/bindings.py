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
OVERRIDE_FAILED: Final = Text("Failed to apply the override rules on the resources: {error}")
"""Message of Overridden False."""
SYNC_FAILED: Final = Text("Failed to synchronize the work to the latest: {error}")
"""Message of WorkSynchronized False."""
WORK_STILL_APPLYING: Final = Text("Work object {work} has not yet completed the apply op")
"""Message of Applied False when the member has not reported yet."""
WORK_NOT_APPLIED: Final = Text("Work object {work} has failed to apply")
"""Message of Applied False when the member has reported a failure."""
WORK_NOT_CHECKED: Final = Text("Work object {work} has not yet completed availability check")
"""Message of Available False when the member has not reported yet."""
WORK_NOT_AVAILABLE: Final = Text("Work object {work} is not yet available")
"""Message of Available False when the member has reported it."""
WORK_NOT_TRACKABLE: Final = Text("The availability of work object {work} is not trackable")
"""Message of Available True when availability cannot be tracked."""
WORK_STILL_DIFFING: Final = Text("Work object {work} has not yet completed diff reporting")
"""Message of DiffReported False when the member has not reported yet."""
WORK_NOT_DIFFED: Final = Text("Work object {work} has failed to report diff")
"""Message of DiffReported False when the member has reported a failure."""


# -- errors, as those messages have them ---------------------------------------------------

SNAPSHOT_INCOMPLETE: Final = Text("only {found} of {size} resource snapshots of {name} exist")
OVERRIDE_MISSING: Final = Text("{kind} {name} is not found")
OVERRIDE_REFUSED: Final = Text(
    '{kind} "{name}" failed to apply on {object_kind} "{object}" in namespace "{namespace}": '
    "{error}"
)
LABEL_MISSING: Final = Text("label key {key} not found on cluster {cluster}")
WRAPPED_NOT_READABLE: Final = Text(
    "failed to parse the wrapped manifest data to a Kubernetes runtime object"
    " (manifestKey={key},envelopeObjRef={envelope}): {field} is missing"
)
NAMESPACED_IN_CLUSTER_ENVELOPE: Final = Text(
    "a namespaced object {wrapped} has been wrapped in a cluster resource envelope {envelope}"
)
CLUSTER_SCOPED_IN_ENVELOPE: Final = Text(
    "a cluster scope object {wrapped} has been wrapped in a resource envelope {envelope}"
)
# "in has been" is KubeFleet's wording.
OF_OTHER_NAMESPACE_IN_ENVELOPE: Final = Text(
    "a namespaced object {wrapped} in has been wrapped in a resource envelope from another"
    " namespace ({envelope})"
)
