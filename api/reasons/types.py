"""Types of conditions."""

from enum import StrEnum


class ConditionType(StrEnum):
    """Types of conditions: the aspects of objects that they describe."""

    # Run, stage and cluster of a run.
    INITIALIZED = "Initialized"
    PROGRESSING = "Progressing"
    STARTED = "Started"
    SUCCEEDED = "Succeeded"

    # Run, only where a rollout policy says what concurrent runs do.
    ADMITTED = "Admitted"

    # Gate of a run.
    APPROVAL_REQUEST_CREATED = "ApprovalRequestCreated"
    APPROVAL_REQUEST_APPROVED = "ApprovalRequestApproved"
    WAIT_TIME_ELAPSED = "WaitTimeElapsed"

    # Approval request.
    APPROVED = "Approved"
    APPROVAL_ACCEPTED = "ApprovalAccepted"

    # Policy snapshot, binding, cluster of a placement; prefixed with the kind's name, also
    # placement (see placement_condition).
    SCHEDULED = "Scheduled"
    ROLLOUT_STARTED = "RolloutStarted"
    OVERRIDDEN = "Overridden"
    WORK_SYNCHRONIZED = "WorkSynchronized"
    # These three: also Work and each of its manifests.
    APPLIED = "Applied"
    AVAILABLE = "Available"
    DIFF_REPORTED = "DiffReported"

    # ClusterResourcePlacement, prefixed with the kind's name.
    STATUS_SYNCED = "StatusSynced"

    # Work.
    STATUS_TRIMMED = "StatusTrimmed"

    # Member cluster; the first two: also each of its agents.
    JOINED = "Joined"
    HEALTHY = "Healthy"
    READY_TO_JOIN = "ReadyToJoin"
    PROPERTY_PROVIDER_STARTED = "ClusterPropertyProviderStarted"
    PROPERTY_COLLECTION_SUCCEEDED = "ClusterPropertyCollectionSucceeded"
    NAMESPACES_COLLECTED = "NamespaceCollectionSucceeded"
