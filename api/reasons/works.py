"""Reasons and messages of Works and of each of their manifests.

contract: placement 8
"""

from enum import StrEnum
from typing import Final

from api.texts import Text


class WorkReason(StrEnum):
    """Reasons of a Work's conditions."""

    APPLIED = "AllManifestsApplied"
    NOT_ALL_APPLIED = "SomeManifestsAreNotApplied"
    AVAILABLE = "AllManifestsAvailable"
    NOT_TRACKABLE = "WorkNotTrackable"
    NOT_ALL_AVAILABLE = "SomeManifestsAreNotAvailable"
    DIFFED = "AllManifestsDiffReported"
    NOT_ALL_DIFFED = "SomeManifestsHaveNotReportedDiff"
    TRIMMED = "StatusOversized"


class WorkMessage(StrEnum):
    """Messages of a Work's conditions without parameters."""

    APPLIED = "All the specified manifests have been applied"
    AVAILABLE = "All of the applied manifests are available"
    NOT_TRACKABLE = "Some of the applied manifests cannot be tracked for availability"
    DIFFED = "All the specified manifests have reported diff"


def some_not_applied(*, done: int, total: int) -> str:
    """Return the message of a Work's Applied False."""
    return f"Failed to apply all manifests ({done} of {total} manifests are applied)"


def some_not_available(*, done: int, total: int) -> str:
    """Return the message of a Work's Available False."""
    return f"Some manifests are not available ({done} of {total} manifests are available)"


def some_not_diffed(*, done: int, total: int) -> str:
    """Return the message of a Work's DiffReported False."""
    return (
        f"Failed to report diff on all manifests ({done} of {total} manifests have reported diff)"
    )


def status_trimmed(*, surplus: int, limit: int) -> str:
    """Return the message of a Work's StatusTrimmed True."""
    return (
        "The status data in the Work object has been trimmed due to size constraints"
        f" ({surplus} bytes over limit {limit})"
    )


class ManifestReason(StrEnum):
    """Reasons of a manifest's conditions."""

    APPLIED = "Applied"
    APPLIED_WITHOUT_DRIFT_DETECTION = "AppliedWithFailedDriftDetection"
    DECODING_ERROR = "DecodingErred"
    GENERATE_NAME = "FoundGenerateName"
    DUPLICATED = "Duplicated"
    NOT_FOUND_ON_MEMBER = "FailedToFindObjInMemberCluster"
    TAKE_OVER_FAILED = "FailedToTakeOver"
    NOT_TAKEN_OVER = "NotTakenOver"
    DRIFT_DETECTION_FAILED = "FailedToRunDriftDetection"
    DRIFTED = "FoundDrifts"
    DRIFTED_DEGRADED = "FoundDriftsInDegradedMode"
    APPLY_FAILED = "ManifestApplyFailed"
    AVAILABLE = "Available"
    NOT_TRACKABLE = "NotTrackable"
    NOT_AVAILABLE = "ManifestNotAvailableYet"
    AVAILABILITY_FAILED = "Failed"
    NO_DIFF = "NoDiffFound"
    DIFF = "FoundDiff"
    DIFF_DEGRADED = "FoundDiffInDegradedMode"
    DIFF_FAILED = "FailedToReportDiff"


class ManifestMessage(StrEnum):
    """Messages of a manifest's conditions without parameters."""

    APPLIED = "Manifest has been applied successfully"
    AVAILABLE = "Manifest is available"
    NOT_TRACKABLE = (
        "Manifest's availability is not trackable; Fleet assumes that the applied manifest is"
        " available"
    )
    NOT_AVAILABLE = "Manifest is not yet available; Fleet will check again later"
    NO_DIFF = "No diff has been found between the hub cluster and the member cluster"
    DIFF = "Diff has been found between the hub cluster and the member cluster"
    DIFF_DEGRADED = (
        "Diff has been found in degraded mode: cannot perform partial comparison as the member"
        " cluster API server rejected the manifest object (object is invalid)"
    )


class ApplyError(StrEnum):
    """Errors that keep a manifest from being applied."""

    DIFFERENT = (
        "cannot take over object: configuration differences are found between the manifest"
        " object and the corresponding object in the member cluster"
    )
    NOT_OWNED = "no ownership of the object in the member cluster; takeover is needed"
    DIFFERENT_DEGRADED = (
        "cannot take over object: configuration differences are found between the manifest"
        " object and the corresponding object in the member cluster in degraded mode (full"
        " comparison is performed instead of partial comparison, as the manifest object is"
        " considered to be invalid by the member cluster API server)"
    )
    DRIFTED = (
        "cannot apply manifest: drifts are found between the manifest and the object from the"
        " member cluster"
    )
    DRIFTED_DEGRADED = (
        "cannot apply manifest: drifts are found between the manifest and the object from the"
        " member cluster in degraded mode (full comparison is performed instead of partial"
        " comparison, as the manifest object is considered to be invalid by the member cluster"
        " API server)"
    )
    DUPLICATED = "a duplicate manifest has been found"
    GENERATE_NAME = "objects with only generate name are not supported"
    CO_OWNED = "object is co-owned by multiple objects but co-ownership has been disallowed"
    OWNED_BY_OTHER_WORK = "object is already owned by another AppliedWork object"
    CLAIMED_BY_OTHER_WORK = (
        "failed to take over a pre-existing object: the object is already owned by another Fleet"
        " AppliedWork object"
    )


MANIFEST_APPLY_FAILED: Final = Text("Failed to apply the manifest (error: {error})")
"""Message of a manifest's Applied False."""
MANIFEST_AVAILABILITY_FAILED: Final = Text(
    "Failed to track the availability of the applied manifest (error = {error})"
)
"""Message of a manifest's Available False when its availability check failed."""
MANIFEST_DIFF_BLOCKED: Final = Text(
    "An error blocks the diff reporting process ({reason}, error: {error})"
)
"""Message of a manifest's DiffReported False when it could not be compared."""
MANIFEST_DIFF_FAILED: Final = Text(
    "Failed to report the diff between the hub cluster and the member cluster (error = {error})"
)
"""Message of a manifest's DiffReported False."""
