"""Reasons of bindings: how far the rollout to one cluster has come.

contract: placement 6
"""

from typing import Final

from api.reasons import BindingReason, ConditionType
from starter.explain.reasons.entries import NOTHING, WAIT, Holder, ReasonEntry

ENTRIES: Final = (
    ReasonEntry(
        Holder.BINDING,
        ConditionType.ROLLOUT_STARTED,
        BindingReason.ROLLOUT_STARTED,
        "A rollout set the cluster's snapshot. The message names the run and the snapshot index.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.ROLLOUT_STARTED,
        BindingReason.NOT_STARTED,
        "The placement rolls out without an update run, and its limits maxUnavailable and maxSurge "
        "hold this cluster back until others are done.",
        "Wait for the other clusters, or raise the limits in spec.strategy.rollingUpdate.",
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.OVERRIDDEN,
        BindingReason.NO_OVERRIDE,
        "No override applies to these objects on this cluster.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.OVERRIDDEN,
        BindingReason.OVERRIDDEN,
        "The overrides for this cluster were applied to the objects.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.OVERRIDDEN,
        BindingReason.OVERRIDE_FAILED,
        "An override could not be applied: it patches a path that does not exist, uses a label "
        "that the cluster lacks, or its snapshot was deleted. The message names it.",
        "Correct the override, then create a new run: a run keeps the override snapshots that it "
        "was planned with.",
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.WORK_SYNCHRONIZED,
        BindingReason.SYNCED,
        "The objects for the cluster are in its namespace on the hub.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.WORK_SYNCHRONIZED,
        BindingReason.SYNC_FAILED,
        "The objects for the cluster could not be written to the hub: the resource snapshot or the "
        "cluster's namespace is gone, an envelope holds an object that it may not hold, or the API "
        "server rejected the write. The message says which.",
        "Fix what the message names: register the member cluster again, correct the envelope, or "
        "create a new run with a snapshot that still exists.",
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.APPLIED,
        BindingReason.APPLYING,
        "The member's agent is applying the objects.",
        WAIT,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.APPLIED,
        BindingReason.NOT_ALL_APPLIED,
        "The member's agent could not apply some objects, or it has not reported at all.",
        "failedPlacements names the objects and their errors. If it is empty, check that the "
        "member's agent is running: `kubectl get membercluster CLUSTER`.",
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.APPLIED,
        BindingReason.APPLIED,
        "All objects are applied on the member.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.AVAILABLE,
        BindingReason.NOT_ALL_AVAILABLE,
        "The objects are applied, but some are not available yet, such as a Deployment whose pods "
        "are not ready.",
        "failedPlacements names the objects. Inspect them on the member cluster itself; the hub "
        "does not see their pods.",
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.AVAILABLE,
        BindingReason.NOT_TRACKABLE,
        "All objects are applied. The availability of some kinds, such as Jobs and custom "
        "resources, cannot be tracked; they count as available.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.AVAILABLE,
        BindingReason.AVAILABLE,
        "All objects are applied and available.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.DIFF_REPORTED,
        BindingReason.REPORTING_DIFF,
        "The member's agent is comparing the objects with those on the member.",
        WAIT,
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.DIFF_REPORTED,
        BindingReason.NOT_ALL_DIFFED,
        "The member's agent could not compare some objects, or it has not reported at all.",
        "Read the conditions of the manifests in the Work that the message names.",
    ),
    ReasonEntry(
        Holder.BINDING,
        ConditionType.DIFF_REPORTED,
        BindingReason.DIFFED,
        "All objects have been compared; diffedPlacements lists those that differ.",
        NOTHING,
    ),
)
