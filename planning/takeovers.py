"""Whether an agent may write an object that is on the member already.

contract: placement 8 (ownership, whenToTakeOver) and 12
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.applying import ApplyStrategy, WhenToTakeOver
from api.kinds import APPLIED_WORK
from planning.work_conditions import ApplyResult, Refusal

Json = Mapping[str, Any]

NOT_TAKEN_OVER: Final = (
    "no ownership of the object in the member cluster; takeover is needed"  # whenToTakeOver Never
)
DIFFERENT: Final = (
    "cannot take over object: configuration differences are found between the manifest object and "
    "the corresponding object in the member cluster"
)
DRIFTED: Final = (
    "cannot apply manifest: drifts are found between the manifest and the object from the member "
    "cluster"
)
_CO_OWNED: Final = (
    "failed to apply the manifest: failed to validate owner references: object is co-owned by "
    "multiple objects but co-ownership has been disallowed"
)
_TAKE_OVER: Final = "failed to take over a pre-existing object: "
_OTHER_OWNERS: Final = (
    "the object is already owned by some other sources(s) and co-ownership is disallowed "
)
_OTHER_WORK: Final = "the object is already owned by another Fleet AppliedWork object"

_VOLATILE: Final = ("managedFields", "resourceVersion", "generation")
"""Metadata that differs between two writes of the same content."""


def owners(live: Json) -> Sequence[Json]:
    """The owner references of an object."""
    references: Sequence[Json] = live.get("metadata", {}).get("ownerReferences") or ()
    return references


def is_applied_work(reference: Json) -> bool:
    """Whether an owner reference names an AppliedWork."""
    group = reference["apiVersion"].rpartition("/")[0]
    return bool(group == APPLIED_WORK.group and reference["kind"] == APPLIED_WORK.kind)


def is_owned(live: Json, *, uid: str) -> bool:
    """Whether the AppliedWork with this uid owns the object."""
    return any(reference["uid"] == uid for reference in owners(live))


def refusal(live: Json | None, *, uid: str, strategy: ApplyStrategy) -> Refusal | None:
    """Why the object must be left alone, or None when its owners allow to write it.

    Args:
        live: the object on the member; None when there is none.
        uid: uid of the AppliedWork for which the agent wants to write.
        strategy: how the Work says objects are applied.
    """
    if live is None:
        return None
    if is_owned(live, uid=uid):
        shared = len(owners(live)) > 1 and not strategy.allow_co_ownership
        return Refusal(ApplyResult.MANIFEST_APPLY_FAILED, _CO_OWNED) if shared else None
    if strategy.when_to_take_over is WhenToTakeOver.NEVER:
        return Refusal(ApplyResult.NOT_TAKEN_OVER, NOT_TAKEN_OVER)
    reason = _claimed(owners(live), strategy)
    return Refusal(ApplyResult.FAILED_TO_TAKE_OVER, _TAKE_OVER + reason) if reason else None


def _claimed(others: Sequence[Json], strategy: ApplyStrategy) -> str | None:
    if others and not strategy.allow_co_ownership:
        listed = " ".join(_shown(each) for each in others)
        return f"{_OTHER_OWNERS}(existingOwnerRefs: [{listed}])"
    if any(is_applied_work(each) for each in others):
        return _OTHER_WORK
    return None


def _shown(reference: Json) -> str:
    return (
        f"{{APIVersion:{reference['apiVersion']} Kind:{reference['kind']} "
        f"Name:{reference['name']} UID:{reference['uid']}}}"
    )


def differs(live: Json, preview: Json) -> bool:
    """Whether an apply would change the object: compares it with the outcome of a dry run."""
    return _comparable(live) != _comparable(preview)


def _comparable(body: Json) -> dict[str, Any]:
    metadata = {key: value for key, value in body["metadata"].items() if key not in _VOLATILE}
    rest = {key: value for key, value in body.items() if key not in ("metadata", "status")}
    return rest | {"metadata": metadata}
