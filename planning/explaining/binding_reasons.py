"""Reasons of bindings: how far a version is on one cluster.

contract: placement 6
"""

from typing import Final

from api.reasons import BindingReason, ConditionType
from planning.explaining.entries import NOTHING, WAIT, Entry, Holder

ENTRIES: Final = (
    Entry(
        Holder.BINDING,
        ConditionType.ROLLOUT_STARTED,
        BindingReason.ROLLOUT_STARTED,
        "A rollout gave the cluster a version. The message names the run and the snapshot index.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.ROLLOUT_STARTED,
        BindingReason.NOT_STARTED,
        "The placement rolls out by itself, and its limits maxUnavailable and maxSurge keep this "
        "cluster back until others are done.",
        "Wait for the other clusters, or raise the limits in spec.strategy.rollingUpdate.",
    ),
    Entry(
        Holder.BINDING,
        ConditionType.OVERRIDDEN,
        BindingReason.NO_OVERRIDE,
        "No override is about this cluster and these objects.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.OVERRIDDEN,
        BindingReason.OVERRIDDEN,
        "The overrides for this cluster were applied to the objects.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.OVERRIDDEN,
        BindingReason.OVERRIDE_FAILED,
        "An override does not fit the objects: it patches a path that is not there, names a label "
        "that the cluster lacks, or its snapshot was deleted. The message names it.",
        "Correct the override. A run keeps the override snapshots of its beginning, so make a new "
        "run afterwards.",
    ),
    Entry(
        Holder.BINDING,
        ConditionType.WORK_SYNCHRONIZED,
        BindingReason.SYNCED,
        "The objects for the cluster are in its namespace on the hub.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.WORK_SYNCHRONIZED,
        BindingReason.SYNC_FAILED,
        "The hub could not write the objects for the cluster: the resource snapshot or the "
        "cluster's namespace is gone, an envelope holds what it may not, or the API server "
        "refused. The message says which.",
        "Mend what the message names: bring back the member cluster, correct the envelope, or make "
        "a new run with a snapshot that is there.",
    ),
    Entry(
        Holder.BINDING,
        ConditionType.APPLIED,
        BindingReason.APPLYING,
        "The objects have just been handed to the member's agent.",
        WAIT,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.APPLIED,
        BindingReason.NOT_ALL_APPLIED,
        "The member's agent could not apply some objects, or it has not reported at all.",
        "failedPlacements names the objects and their errors. Without any, look whether the "
        "member's agent is alive: `kubectl get membercluster CLUSTER`.",
    ),
    Entry(
        Holder.BINDING,
        ConditionType.APPLIED,
        BindingReason.APPLIED,
        "All objects are applied on the member.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.AVAILABLE,
        BindingReason.NOT_ALL_AVAILABLE,
        "The objects are applied, but some do not do their work yet, such as a Deployment whose "
        "pods are not ready.",
        "failedPlacements names the objects. Look at them on the member cluster itself; the hub "
        "does not see their pods.",
    ),
    Entry(
        Holder.BINDING,
        ConditionType.AVAILABLE,
        BindingReason.NOT_TRACKABLE,
        "All objects are applied. For some kinds, such as Jobs and custom resources, nobody can "
        "tell whether they do their work; they count as available.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.AVAILABLE,
        BindingReason.AVAILABLE,
        "All objects are applied and do their work.",
        NOTHING,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.DIFF_REPORTED,
        BindingReason.REPORTING_DIFF,
        "The member's agent is comparing the objects with those on the member.",
        WAIT,
    ),
    Entry(
        Holder.BINDING,
        ConditionType.DIFF_REPORTED,
        BindingReason.NOT_ALL_DIFFED,
        "The member's agent could not compare some objects, or it has not reported at all.",
        "Look at the conditions of the manifests in the Work that the message names.",
    ),
    Entry(
        Holder.BINDING,
        ConditionType.DIFF_REPORTED,
        BindingReason.DIFFED,
        "All objects were compared; diffedPlacements lists those that differ.",
        NOTHING,
    ),
)
