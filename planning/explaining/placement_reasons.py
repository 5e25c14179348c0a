"""Reasons of placements and policy snapshots: over all clusters, and of one.

contract: placement 4 and 7
"""

from typing import Final

from api.reasons import ConditionType, PlacementReason, SchedulingReason
from planning.explaining.entries import NOTHING, WAIT, Entry, Holder

_EACH_CLUSTER: Final = (
    "The clusters' own conditions in status.placementStatuses, or in the bindings, say more."
)
_TOO_FEW: Final = (
    "Fewer clusters can be picked than the policy wants. status.targetClusters of the policy "
    "snapshot says why each other cluster was not."
)
_PICK_MORE: Final = (
    "Register more clusters, mend those that are not eligible, or ask for fewer. A run cannot be "
    "planned until then."
)

_SCHEDULED: Final = (
    Entry(
        Holder.POLICY,
        ConditionType.SCHEDULED,
        SchedulingReason.FULFILLED,
        "As many clusters are picked as the policy wants.",
        NOTHING,
    ),
    Entry(
        Holder.POLICY, ConditionType.SCHEDULED, SchedulingReason.UNFULFILLED, _TOO_FEW, _PICK_MORE
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        SchedulingReason.FULFILLED,
        "As many clusters are picked as the policy wants.",
        NOTHING,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        SchedulingReason.UNFULFILLED,
        _TOO_FEW,
        _PICK_MORE,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        PlacementReason.INVALID_SELECTORS,
        "A resource selector cannot be followed: its kind is not served, is of the wrong scope, or "
        "may not be placed.",
        "Correct spec.resourceSelectors; the message names what is wrong.",
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.SCHEDULED,
        PlacementReason.SCHEDULE_PENDING,
        "Nobody has picked clusters for the present policy yet.",
        "This passes within moments. If not, look whether placement is running: "
        "`fleetgate worker --run placement`, or KubeFleet's hub agent.",
    ),
    Entry(
        Holder.PLACED,
        ConditionType.SCHEDULED,
        PlacementReason.SCHEDULED,
        "The cluster is picked.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.SCHEDULED,
        PlacementReason.SCHEDULE_FAILED,
        "The policy wants one more cluster, and this is why one of those left cannot be picked.",
        _PICK_MORE,
    ),
)

_ROLLOUT: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.EXTERNAL,
        "Update runs roll the placement out. Clusters have different versions, or none yet.",
        "Start a run, or look where the present one is: `fleetgate run list`.",
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.START_UNKNOWN,
        "For some clusters it is not decided yet whether they get the latest version.",
        WAIT,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.NOT_STARTED,
        "The limits maxUnavailable and maxSurge keep clusters back until others are done.",
        "Wait for the other clusters, or raise the limits in spec.strategy.rollingUpdate.",
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.STARTED,
        "The rollout has started on all clusters.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.ROLLOUT_STARTED,
        PlacementReason.START_UNKNOWN,
        "No rollout has given the cluster a version of the present content yet.",
        "With a strategy of type External, start an update run.",
    ),
)

_OVERRIDDEN: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDE_PENDING,
        "On some clusters overrides are still being applied.",
        WAIT,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDE_FAILED,
        "On some clusters an override does not fit the objects.",
        f"Correct the override. {_EACH_CLUSTER}",
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDDEN,
        "The overrides are applied on all clusters.",
        NOTHING,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.OVERRIDDEN,
        PlacementReason.NO_OVERRIDE,
        "No override is about these objects.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.OVERRIDDEN,
        PlacementReason.OVERRIDE_PENDING,
        "The overrides for the cluster are still being applied.",
        WAIT,
    ),
)

_SYNCHRONIZED: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.SYNC_UNKNOWN,
        "For some clusters the objects are still being written to their namespaces on the hub.",
        WAIT,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.NOT_SYNCED,
        "For some clusters the objects could not be written to their namespaces on the hub.",
        _EACH_CLUSTER,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.SYNCED,
        "The objects for all clusters are in their namespaces on the hub.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.WORK_SYNCHRONIZED,
        PlacementReason.SYNC_UNKNOWN,
        "The objects are still being written to the cluster's namespace on the hub.",
        WAIT,
    ),
)

_APPLIED: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.APPLIED,
        PlacementReason.APPLY_PENDING,
        "Some members have not reported yet that the objects are applied.",
        WAIT,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.APPLIED,
        PlacementReason.APPLY_FAILED,
        "Some members could not apply some objects.",
        f"failedPlacements has the objects and errors. {_EACH_CLUSTER}",
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.APPLIED,
        PlacementReason.APPLIED,
        "All objects are applied on all clusters.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.APPLIED,
        PlacementReason.APPLY_PENDING,
        "The member has not reported yet that the objects are applied.",
        WAIT,
    ),
)

_AVAILABLE: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.AVAILABLE,
        PlacementReason.AVAILABLE_UNKNOWN,
        "Some members have not reported yet whether the objects do their work.",
        WAIT,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.AVAILABLE,
        PlacementReason.NOT_AVAILABLE,
        "On some clusters objects are applied but do not do their work yet.",
        f"failedPlacements has the objects. {_EACH_CLUSTER}",
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.AVAILABLE,
        PlacementReason.AVAILABLE,
        "All objects do their work on all clusters.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.AVAILABLE,
        PlacementReason.AVAILABLE_UNKNOWN,
        "The member has not reported yet whether the objects do their work.",
        WAIT,
    ),
)

_DIFF: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFF_PENDING,
        "Some members are still comparing the objects.",
        WAIT,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFF_FAILED,
        "Some members are still comparing the objects, or could not.",
        _EACH_CLUSTER,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFFED,
        "All members have compared the objects; diffedPlacements lists those that differ.",
        NOTHING,
    ),
    Entry(
        Holder.PLACED,
        ConditionType.DIFF_REPORTED,
        PlacementReason.DIFF_PENDING,
        "The member has not reported yet how the objects differ.",
        WAIT,
    ),
)

_STATUS_SYNCED: Final = (
    Entry(
        Holder.PLACEMENT,
        ConditionType.STATUS_SYNCED,
        PlacementReason.STATUS_SYNCED,
        "The status is copied into the placed namespace, for people without rights on the "
        "placement.",
        NOTHING,
    ),
    Entry(
        Holder.PLACEMENT,
        ConditionType.STATUS_SYNCED,
        PlacementReason.STATUS_NOT_SYNCED,
        "The status could not be copied into the placed namespace.",
        "Select the namespace by name in spec.resourceSelectors and see that it exists on the hub; "
        "the message has the error.",
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
