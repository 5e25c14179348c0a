"""Reasons and messages of placements, for each cluster and over all clusters.

contract: placement 7
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from api.kinds import Kind
from api.reasons.types import ConditionType


def placement_condition(placement: Kind, condition: ConditionType) -> str:
    """Return the type of a condition over all clusters, which is prefixed with the kind's name."""
    return f"{placement.kind}{condition}"


class PlacementReason(StrEnum):
    """Reasons of a placement's conditions, over all clusters and for each cluster."""

    INVALID_SELECTORS = "InvalidResourceSelectors"
    SCHEDULE_PENDING = "SchedulePending"
    SCHEDULED = "Scheduled"
    """One cluster was picked."""
    SCHEDULE_FAILED = "ScheduleFailed"
    """One cluster could not be picked."""
    EXTERNAL = "RolloutControlledByExternalController"
    START_UNKNOWN = "RolloutStartedUnknown"
    NOT_STARTED = "RolloutNotStartedYet"
    STARTED = "RolloutStarted"
    OVERRIDE_PENDING = "OverriddenPending"
    OVERRIDE_FAILED = "OverriddenFailed"
    OVERRIDDEN = "OverriddenSucceeded"
    NO_OVERRIDE = "NoOverrideSpecified"
    SYNC_UNKNOWN = "WorkSynchronizedUnknown"
    NOT_SYNCED = "WorkNotSynchronizedYet"
    SYNCED = "WorkSynchronized"
    APPLY_PENDING = "ApplyPending"
    APPLY_FAILED = "ApplyFailed"
    APPLIED = "ApplySucceeded"
    AVAILABLE_UNKNOWN = "ResourceAvailableUnknown"
    NOT_AVAILABLE = "ResourceNotAvailableYet"
    AVAILABLE = "ResourceAvailable"
    DIFF_PENDING = "DiffReportingPending"
    DIFF_FAILED = "DiffReportingIncompleteOrFailed"
    DIFFED = "DiffReportingCompleted"
    STATUS_SYNCED = "StatusSyncSucceeded"
    STATUS_NOT_SYNCED = "StatusSyncFailed"


class PlacementMessage(StrEnum):
    """Messages of a placement's conditions without parameters."""

    SCHEDULE_PENDING = "Scheduling has not completed"
    VERSIONS_DIFFER = (
        "Rollout is controlled by an external controller and different resource snapshot"
        " versions are observed across clusters"
    )
    NO_OVERRIDE = "No override rules are configured for the selected resources"
    NO_NAMESPACE = (
        "NamespaceAccessible ClusterResourcePlacement doesn't specify a resource selector which"
        " selects a namespace"
    )
    """For a namespace selected by label, which may be any number: the status cannot be copied."""


def invalid_selectors(error: str) -> str:
    """Return the message of Scheduled False when a selector is invalid."""
    return f"The resource selectors are invalid: {error}"


def no_version_yet(run: Kind) -> str:
    """Return the message of RolloutStarted Unknown while no run has updated any cluster."""
    return (
        "Rollout is controlled by an external controller and no resource snapshot name is"
        f" observed across clusters. To determine rollout status, check the {run.kind} resources"
        " with spec.placementName matching this placement"
    )


def start_unknown(cluster: str) -> str:
    """Return the message of RolloutStarted Unknown when it is Unknown for a cluster."""
    return (
        "Rollout is controlled by an external controller and cluster"
        f" {cluster} is in RolloutStarted Unknown state"
    )


def status_synced(namespace: str) -> str:
    """Return the message of StatusSynced True."""
    return (
        f"Successfully created or updated ClusterResourcePlacementStatus in namespace '{namespace}'"
    )


def status_not_synced(error: str) -> str:
    """Return the message of StatusSynced False when the copy could not be written."""
    return f"Failed to create or update ClusterResourcePlacementStatus: {error}"


@dataclass(frozen=True, slots=True)
class Wording:
    """A reason and its message, in which `{count}` stands for the number of clusters."""

    reason: PlacementReason
    message: str

    def count(self, clusters: int) -> str:
        """Return the message for this number of clusters."""
        return self.message.format(count=clusters)


PENDING: Final[Mapping[ConditionType, Wording]] = MappingProxyType(
    {
        ConditionType.ROLLOUT_STARTED: Wording(
            PlacementReason.START_UNKNOWN,
            "In the process of deciding whether to roll out some version of the resources or not",
        ),
        ConditionType.OVERRIDDEN: Wording(
            PlacementReason.OVERRIDE_PENDING,
            "In the process of overriding the selected resources if there is any override defined",
        ),
        ConditionType.WORK_SYNCHRONIZED: Wording(
            PlacementReason.SYNC_UNKNOWN,
            "In the process of creating or updating the work object(s) in the hub cluster",
        ),
        ConditionType.APPLIED: Wording(
            PlacementReason.APPLY_PENDING,
            "In the process of applying the resources on the member cluster",
        ),
        ConditionType.AVAILABLE: Wording(
            PlacementReason.AVAILABLE_UNKNOWN,
            # KubeFleet's message ends with a space.
            "The availability of the selected resources is unknown yet ",
        ),
        ConditionType.DIFF_REPORTED: Wording(
            PlacementReason.DIFF_PENDING,
            "Diff reporting has just started; its status is not yet to be known",
        ),
    }
)
"""For one cluster whose binding has no such condition yet (contract: placement 7.2)."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Wordings of one condition over all clusters, by its status."""

    unknown: Wording
    failed: Wording
    done: Wording


AGGREGATES: Final[Mapping[ConditionType, Aggregate]] = MappingProxyType(
    {
        ConditionType.ROLLOUT_STARTED: Aggregate(
            unknown=Wording(
                PlacementReason.START_UNKNOWN,
                "There are still {count} cluster(s) in the process of deciding whether to roll"
                " out the latest resources or not",
            ),
            failed=Wording(
                PlacementReason.NOT_STARTED,
                "The rollout is being blocked by the rollout strategy in {count} cluster(s)",
            ),
            done=Wording(
                PlacementReason.STARTED,
                "All {count} cluster(s) start rolling out the latest resource",
            ),
        ),
        ConditionType.OVERRIDDEN: Aggregate(
            unknown=Wording(
                PlacementReason.OVERRIDE_PENDING,
                "There are still {count} cluster(s) in the process of overriding the selected"
                " resources if there is any override defined",
            ),
            failed=Wording(
                PlacementReason.OVERRIDE_FAILED,
                "Failed to override resources in {count} cluster(s)",
            ),
            done=Wording(
                PlacementReason.OVERRIDDEN,
                "The selected resources are successfully overridden in {count} cluster(s)",
            ),
        ),
        ConditionType.WORK_SYNCHRONIZED: Aggregate(
            unknown=Wording(
                PlacementReason.SYNC_UNKNOWN,
                "There are still {count} cluster(s) in the process of creating or updating the"
                " work object(s) in the hub cluster",
            ),
            failed=Wording(
                PlacementReason.NOT_SYNCED,
                "There are {count} cluster(s) which have not finished creating or updating"
                " work(s) yet",
            ),
            done=Wording(
                PlacementReason.SYNCED,
                "Work(s) are successfully created or updated in {count} target cluster(s)'"
                " namespaces",
            ),
        ),
        ConditionType.APPLIED: Aggregate(
            unknown=Wording(
                PlacementReason.APPLY_PENDING,
                "There are still {count} cluster(s) in the process of applying the resources on"
                " the member cluster",
            ),
            failed=Wording(
                PlacementReason.APPLY_FAILED,
                "Failed to apply resources to {count} cluster(s), please check the"
                " `failedPlacements` status",
            ),
            done=Wording(
                PlacementReason.APPLIED,
                "The selected resources are successfully applied to {count} cluster(s)",
            ),
        ),
        ConditionType.AVAILABLE: Aggregate(
            unknown=Wording(
                PlacementReason.AVAILABLE_UNKNOWN,
                "There are still {count} cluster(s) in the process of checking the availability"
                " of the selected resources",
            ),
            failed=Wording(
                PlacementReason.NOT_AVAILABLE,
                "The selected resources in {count} cluster(s) are still not available yet",
            ),
            done=Wording(
                PlacementReason.AVAILABLE,
                "The selected resources in {count} cluster(s) are available now",
            ),
        ),
        ConditionType.DIFF_REPORTED: Aggregate(
            unknown=Wording(
                PlacementReason.DIFF_PENDING,
                "There are still {count} cluster(s) in the process of checking for configuration"
                " differences",
            ),
            failed=Wording(
                PlacementReason.DIFF_FAILED,
                "Diff reporting in {count} clusters is still in progress or has failed",
            ),
            done=Wording(
                PlacementReason.DIFFED,
                "Diff reporting in {count} cluster(s) has been completed",
            ),
        ),
    }
)
"""For all clusters (contract: placement 7.4). Overridden True without overrides is NO_OVERRIDE."""


EVENTS: Final[Mapping[ConditionType, tuple[str, str]]] = MappingProxyType(
    {
        ConditionType.ROLLOUT_STARTED: (
            "PlacementRolloutStarted",
            "Started rolling out the latest resources",
        ),
        ConditionType.OVERRIDDEN: (
            "PlacementOverriddenSucceeded",
            "Placement has been successfully overridden",
        ),
        ConditionType.WORK_SYNCHRONIZED: (
            "PlacementWorkSynchronized",
            "Work(s) have been created or updated successfully for the selected cluster(s)",
        ),
        ConditionType.APPLIED: (
            "PlacementApplied",
            "Resources have been applied to the selected cluster(s)",
        ),
        ConditionType.AVAILABLE: (
            "PlacementAvailable",
            "Resources are available on the selected cluster(s)",
        ),
        ConditionType.DIFF_REPORTED: (
            "PlacementDiffReported",
            "Configuration differences have been reported on the selected cluster(s)",
        ),
    }
)
"""Reason and message of the event when a condition becomes True (contract: placement 7.6)."""

COMPLETED: Final = (
    "PlacementRolloutCompleted",
    "Placement has finished the rollout process and reached the desired status",
)
"""Reason and message of the event when all conditions have become True."""

CLEANED_UP: Final = (
    "PlacementCleanupFinalizerRemoved",
    "Deleted the snapshots and removed the placement cleanup finalizer",
)
"""Reason and message of the event when the finalizer of a deleted placement is removed."""
