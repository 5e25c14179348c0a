"""Reasons of Works and of each of their manifests: what a member's agent made of its objects.

contract: placement 8
"""

from typing import Final

from api.reasons import ConditionType, ManifestReason, WorkReason
from planning.explaining.entries import NOTHING, Entry, Holder

_MANIFESTS: Final = "Look at the conditions in status.manifestConditions that are not True."

_WORK: Final = (
    Entry(
        Holder.WORK,
        ConditionType.APPLIED,
        WorkReason.APPLIED,
        "All objects of the Work are applied on the member.",
        NOTHING,
    ),
    Entry(
        Holder.WORK,
        ConditionType.APPLIED,
        WorkReason.NOT_ALL_APPLIED,
        "The member's agent could not apply some objects of the Work.",
        _MANIFESTS,
    ),
    Entry(
        Holder.WORK,
        ConditionType.AVAILABLE,
        WorkReason.AVAILABLE,
        "All objects of the Work do their work on the member.",
        NOTHING,
    ),
    Entry(
        Holder.WORK,
        ConditionType.AVAILABLE,
        WorkReason.NOT_TRACKABLE,
        "All objects are applied; of some kinds nobody can tell whether they do their work, and "
        "they count as available.",
        NOTHING,
    ),
    Entry(
        Holder.WORK,
        ConditionType.AVAILABLE,
        WorkReason.NOT_ALL_AVAILABLE,
        "Some objects of the Work are applied but do not do their work yet.",
        _MANIFESTS,
    ),
    Entry(
        Holder.WORK,
        ConditionType.DIFF_REPORTED,
        WorkReason.DIFFED,
        "All objects of the Work were compared with those on the member.",
        NOTHING,
    ),
    Entry(
        Holder.WORK,
        ConditionType.DIFF_REPORTED,
        WorkReason.NOT_ALL_DIFFED,
        "The member's agent could not compare some objects of the Work.",
        _MANIFESTS,
    ),
    Entry(
        Holder.WORK,
        ConditionType.STATUS_TRIMMED,
        WorkReason.TRIMMED,
        "So much differs on the member that the details would not fit into the object; only "
        "summaries are kept.",
        "Look at the objects on the member itself for the details.",
    ),
)

_APPLIED: Final = (
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.APPLIED,
        "The object is applied on the member.",
        NOTHING,
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.APPLIED_WITHOUT_DRIFT_DETECTION,
        "The object is applied, but what was changed on the member could not be found out.",
        NOTHING,
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DECODING_ERROR,
        "The manifest is no Kubernetes object, or of a kind that the member does not serve.",
        "Install the kind's definition on the member, or correct the object on the hub and make a "
        "new run.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.GENERATE_NAME,
        "The object has a generateName and no name, so it cannot be found again.",
        "Give the object a name on the hub, then make a new run.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DUPLICATED,
        "The same object is in the Work twice.",
        "Take one of the two out of what the placement selects, envelopes included, then make a "
        "new run.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.NOT_FOUND_ON_MEMBER,
        "The member's API server did not say whether it has the object.",
        "The message has the API server's words: mend the agent's rights on the member, or the "
        "API server.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.TAKE_OVER_FAILED,
        "The member has the object already, and may not be made to look like the hub's: it "
        "differs, or somebody else owns it.",
        "diffedPlacements lists what differs. Make the two alike, remove the other owner, or allow "
        "it with whenToTakeOver: Always or allowCoOwnership in the placement's apply strategy.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.NOT_TAKEN_OVER,
        "The member has the object already, and the apply strategy says never to take one over.",
        "Delete the object on the member, or allow it with whenToTakeOver: Always or IfNoDiff in "
        "the placement's apply strategy.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DRIFT_DETECTION_FAILED,
        "The agent could not find out whether the object was changed on the member, and the apply "
        "strategy says to apply only to what was not.",
        "The message has the API server's words; the agent tries again by itself.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DRIFTED,
        "The object was changed on the member by hand, and the apply strategy says to leave such "
        "objects alone.",
        "driftedPlacements lists what was changed. Take the change back on the member, or allow it "
        "to be overwritten with whenToApply: Always in the placement's apply strategy.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.DRIFTED_DEGRADED,
        "The member's API server holds the object for invalid, so all of it was compared, and it "
        "differs.",
        "Correct the object on the hub first: the member would refuse it.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.APPLIED,
        ManifestReason.APPLY_FAILED,
        "The member refused the object: its API server or an admission webhook holds it for "
        "invalid, the agent lacks the right, a field may not be changed, or somebody else owns the "
        "object. The message has the refusal.",
        "Correct the object on the hub, or what refuses it on the member. A corrected object needs "
        "a new run; a corrected member does not.",
    ),
)

_AVAILABLE: Final = (
    Entry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.AVAILABLE,
        "The object does its work.",
        NOTHING,
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.NOT_TRACKABLE,
        "Nobody can tell of this kind whether the object does its work; it counts as available.",
        NOTHING,
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.NOT_AVAILABLE,
        "The object is applied but does not do its work yet: pods that cannot pull their image, "
        "crash or find no node, or a load balancer without an address.",
        "Look at the object and its pods on the member: `kubectl describe`, then "
        "`kubectl get pods` in its namespace. If the version is bad, "
        "`fleetgate rollback PLACEMENT`.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.AVAILABLE,
        ManifestReason.AVAILABILITY_FAILED,
        "The agent could not find out whether the object does its work.",
        "The message has the error; the agent tries again by itself.",
    ),
)

_DIFF: Final = (
    Entry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.NO_DIFF,
        "The object on the member is as the hub has it.",
        NOTHING,
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.DIFF,
        "The object on the member differs from the hub's, or is not there.",
        "status.manifestConditions and the binding's diffedPlacements list what differs. Nothing "
        "is applied while the apply strategy is ReportDiff.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.DIFF_DEGRADED,
        "The member's API server holds the object for invalid, so all of it was compared, and it "
        "differs.",
        "Correct the object on the hub before it is applied: the member would refuse it.",
    ),
    Entry(
        Holder.MANIFEST,
        ConditionType.DIFF_REPORTED,
        ManifestReason.DIFF_FAILED,
        "The agent could not compare the object with the one on the member.",
        "The message has the error; the agent tries again by itself.",
    ),
)

ENTRIES: Final = (*_WORK, *_APPLIED, *_AVAILABLE, *_DIFF)
