"""Reasons of placements, over all clusters and for each one, and of policy snapshots.

contract: placement 4 and 7
"""

from typing import Final

from api.reasons import ConditionType, PlacementReason, SchedulingReason
from starter.explain.reasons.entries import NOTHING, WAIT, Holder, ReasonEntry

_EACH_CLUSTER: Final = (
    "For details, read each cluster's conditions in status.placementStatuses or in its binding."
)
_TOO_FEW: Final = (
    "Fewer clusters can be picked than the policy asks for. status.targetClusters of the policy "
    "snapshot says why each other cluster was not picked."
)
_PICK_MORE: Final = (
    "Register more clusters, fix those that are not eligible, or ask for fewer. No run can be "
    "planned until then."
)

_SCHEDULED: Final = (
    ReasonEntry(
        Holder.POLICY,
        ConditionType.SCHEDULED,
        SchedulingReason.FULFILLED,
        "As many clusters are picked as the policy asks for.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.POLICY, ConditionType.SCHEDULED, SchedulingReason.UNFULFILLED, _TOO_FEW, _PICK_MORE
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        SchedulingReason.FULFILLED,
        "As many clusters are picked as the policy asks for.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        SchedulingReason.UNFULFILLED,
        _TOO_FEW,
        _PICK_MORE,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        PlacementReason.INVALID_SELECTORS,
        "A resource selector is not valid: its kind is not served, has the wrong scope, or may not "
        "be placed.",
        "Correct spec.resourceSelectors; the message says what is wrong.",
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        PlacementReason.SCHEDULE_PENDING,
        "No clusters have been picked for the current policy yet.",
        "This takes moments. If it lasts, check that placement is running: "
        "`fleetgate worker --run placement`, or KubeFleet's hub agent.",
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.SCHEDULED,
        PlacementReason.SCHEDULED,
        "The cluster is picked.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.SCHEDULED,
        PlacementReason.SCHEDULE_FAILED,
        "The policy asks for one more cluster; this is why one of the remaining clusters cannot "
        "be picked.",
        _PICK_MORE,
    ),
)

_ROLLOUT: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.EXTERNAL,
        "Update runs roll the placement out. The clusters have different snapshots, or none yet.",
        "Start a run, or check how far the current one is: `fleetgate run list`.",
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.START_UNKNOWN,
        "For some clusters it has not been decided yet whether they get the latest snapshot.",
        WAIT,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.NOT_STARTED,
        "The limits maxUnavailable and maxSurge hold clusters back until others are done.",
        "Wait for the other clusters, or raise the limits in spec.strategy.rollingUpdate.",
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.STARTED,
        "The rollout has started on all clusters.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.START_UNKNOWN,
        "No rollout has set the cluster's snapshot yet.",
        "If the strategy is of type External, start an update run.",
    ),
)

_OVERRIDDEN: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDE_PENDING,
        "On some clusters overrides are still being applied.",
        WAIT,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDE_FAILED,
        "On some clusters an override could not be applied.",
        f"Correct the override. {_EACH_CLUSTER}",
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDDEN,
        "The overrides are applied on all clusters.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.NO_OVERRIDE,
        "No override applies to these objects.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDE_PENDING,
        "The overrides for the cluster are still being applied.",
        WAIT,
    ),
)

_SYNCHRONIZED: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.SYNC_UNKNOWN,
        "For some clusters the objects are still being written to their namespaces on the hub.",
        WAIT,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.NOT_SYNCED,
        "For some clusters the objects could not be written to their namespaces on the hub.",
        _EACH_CLUSTER,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.SYNCED,
        "The objects for all clusters are in their namespaces on the hub.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.SYNC_UNKNOWN,
        "The objects are still being written to the cluster's namespace on the hub.",
        WAIT,
    ),
)

_APPLIED: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.APPLIED,
        PlacementReason.APPLY_PENDING,
        "Some members have not reported yet that the objects are applied.",
        WAIT,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.APPLIED,
        PlacementReason.APPLY_FAILED,
        "Some members could not apply some objects.",
        f"failedPlacements has the objects and errors. {_EACH_CLUSTER}",
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.APPLIED,
        PlacementReason.APPLIED,
        "All objects are applied on all clusters.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.APPLIED,
        PlacementReason.APPLY_PENDING,
        "The member has not reported yet that the objects are applied.",
        WAIT,
    ),
)

_AVAILABLE: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.AVAILABLE,
        PlacementReason.AVAILABLE_UNKNOWN,
        "Some members have not reported yet whether the objects are available.",
        WAIT,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.AVAILABLE,
        PlacementReason.NOT_AVAILABLE,
        "On some clusters objects are applied but not available yet.",
        f"failedPlacements has the objects. {_EACH_CLUSTER}",
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.AVAILABLE,
        PlacementReason.AVAILABLE,
        "All objects are available on all clusters.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.AVAILABLE,
        PlacementReason.AVAILABLE_UNKNOWN,
        "The member has not reported yet whether the objects are available.",
        WAIT,
    ),
)

_DIFF: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFF_PENDING,
        "Some members are still comparing the objects.",
        WAIT,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFF_FAILED,
        "Some members are still comparing the objects, or could not compare them.",
        _EACH_CLUSTER,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFFED,
        "All members have compared the objects; diffedPlacements lists those that differ.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACED,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFF_PENDING,
        "The member has not reported yet how the objects differ.",
        WAIT,
    ),
)

_STATUS_SYNCED: Final = (
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.STATUS_SYNCED,
        PlacementReason.STATUS_SYNCED,
        "The status is copied into the placed namespace, for users without rights on the "
        "placement.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.PLACEMENT,
        ConditionType.STATUS_SYNCED,
        PlacementReason.STATUS_NOT_SYNCED,
        "The status could not be copied into the placed namespace.",
        "Select the namespace by name in spec.resourceSelectors and check that it exists on the "
        "hub; the message has the error.",
    ),
)

ENTRIES: Final = (
    *_SCHEDULED,
    *_ROLLOUT,
    *_OVERRIDDEN,
    *_SYNCHRONIZED,
    *_APPLIED,
    *_AVAILABLE,
    *_DIFF,
    *_STATUS_SYNCED,
)
