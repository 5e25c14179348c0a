"""Reasons of Works and of each of their manifests: how far a member's agent is with its objects.

contract: placement 8
"""

from typing import Final

from api.reasons import ConditionType, ManifestReason, WorkReason
from starter.explain.reasons.entries import NOTHING, Holder, ReasonEntry

_MANIFESTS: Final = "Read the conditions in status.manifestConditions that are not True."

_WORK: Final = (
    ReasonEntry(
        Holder.WORK,
        ConditionType.APPLIED,
        WorkReason.APPLIED,
        "All objects of the Work are applied on the member.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.APPLIED,
        WorkReason.NOT_ALL_APPLIED,
        "The member's agent could not apply some objects of the Work.",
        _MANIFESTS,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.AVAILABLE,
        WorkReason.AVAILABLE,
        "All objects of the Work are available on the member.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.AVAILABLE,
        WorkReason.NOT_TRACKABLE,
        "All objects are applied. The availability of some kinds cannot be tracked; they count as "
        "available.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.AVAILABLE,
        WorkReason.NOT_ALL_AVAILABLE,
        "Some objects of the Work are applied but not available yet.",
        _MANIFESTS,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.DIFF_REPORTED,
        WorkReason.DIFFED,
        "All objects of the Work have been compared with those on the member.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.DIFF_REPORTED,
        WorkReason.NOT_ALL_DIFFED,
        "The member's agent could not compare some objects of the Work.",
        _MANIFESTS,
    ),
    ReasonEntry(
        Holder.WORK,
        ConditionType.STATUS_TRIMMED,
        WorkReason.TRIMMED,
        "So much differs on the member that the details would not fit into the object; only "
        "summaries are kept.",
        "For the details, inspect the objects on the member itself.",
    ),
)

_APPLIED: Final = (
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.APPLIED,
        "The object is applied on the member.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.APPLIED_WITHOUT_DRIFT_DETECTION,
        "The object is applied, but changes made on the member could not be detected.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DECODING_ERROR,
        "The manifest is not a Kubernetes object, or the member does not serve its kind.",
        "Install the CRD on the member, or correct the object on the hub and create a new run.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.GENERATE_NAME,
        "The object has a generateName and no name, so it could not be found again.",
        "Give the object a name on the hub, then create a new run.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DUPLICATED,
        "The same object is in the Work twice.",
        "Remove one of the two from what the placement selects, envelopes included, then create a "
        "new run.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.NOT_FOUND_ON_MEMBER,
        "The agent could not read the object from the member's API server.",
        "The message has the API server's error: fix the agent's rights on the member, or the API "
        "server.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.TAKE_OVER_FAILED,
        "The object already exists on the member, and the apply strategy does not allow taking it "
        "over: it differs from the hub's, or has another owner.",
        "diffedPlacements lists what differs. Make the two equal, remove the other owner, or allow "
        "it with whenToTakeOver: Always or allowCoOwnership in the placement's apply strategy.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.NOT_TAKEN_OVER,
        "The object already exists on the member, and the apply strategy says never to take over.",
        "Delete the object on the member, or allow it with whenToTakeOver: Always or IfNoDiff in "
        "the placement's apply strategy.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DRIFT_DETECTION_FAILED,
        "The agent could not find out whether the object was changed on the member, and the apply "
        "strategy says not to apply to changed objects.",
        "The message has the API server's error; the agent retries automatically.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DRIFTED,
        "The object was changed on the member by hand, and the apply strategy says to leave such "
        "objects alone.",
        "driftedPlacements lists what was changed. Undo the change on the member, or allow "
        "overwriting it with whenToApply: Always in the placement's apply strategy.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DRIFTED_DEGRADED,
        "The member's API server rejects the object as invalid, so all of it was compared, and it "
        "differs.",
        "Correct the object on the hub first: the member would reject it.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.APPLY_FAILED,
        "The member rejected the object: its API server or an admission webhook finds it invalid, "
        "the agent lacks the right, a field is immutable, or the object has another owner. "
        "The message has the error.",
        "Correct the object on the hub, or what rejects it on the member. A corrected object needs "
        "a new run; a corrected member does not.",
    ),
)

_AVAILABLE: Final = (
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.AVAILABLE,
        "The object is available.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.NOT_TRACKABLE,
        "The availability of this kind of object cannot be tracked; it counts as available.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.NOT_AVAILABLE,
        "The object is applied but not available yet: its pods cannot pull their image, crash or "
        "cannot be scheduled, or a load balancer has no address.",
        "Inspect the object and its pods on the member: `kubectl describe`, then "
        "`kubectl get pods` in its namespace. If the new content is bad, "
        "`fleetgate rollback PLACEMENT`.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.AVAILABILITY_FAILED,
        "The agent could not find out whether the object is available.",
        "The message has the error; the agent retries automatically.",
    ),
)

_DIFF: Final = (
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.NO_DIFF,
        "The object on the member is the same as on the hub.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.DIFF,
        "The object on the member differs from the hub's, or does not exist.",
        "status.manifestConditions and the binding's diffedPlacements list what differs. Nothing "
        "is applied while the apply strategy is ReportDiff.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.DIFF_DEGRADED,
        "The member's API server rejects the object as invalid, so all of it was compared, and it "
        "differs.",
        "Correct the object on the hub before it is applied: the member would reject it.",
    ),
    ReasonEntry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.DIFF_FAILED,
        "The agent could not compare the object with the one on the member.",
        "The message has the error; the agent retries automatically.",
    ),
)

ENTRIES: Final = (*_WORK, *_APPLIED, *_AVAILABLE, *_DIFF)
