"""Takeovers: whether an agent may write an object that already exists on the member.

contract: placement 8 (ownership, whenToTakeOver) and 12
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from api.applying import ApplyStrategy, WhenToTakeOver
from api.kinds import APPLIED_WORK
from api.reasons import ApplyError, ManifestReason
from planning.members.outcomes import Refusal

Json = Mapping[str, Any]

_OWNERS: Final = "failed to apply the manifest: failed to validate owner references: "
_TAKE_OVER: Final = "failed to take over a pre-existing object: "
_OTHER_OWNERS: Final = (
    "the object is already owned by some other sources(s) and co-ownership is disallowed "
)


def owners(live: Json) -> Sequence[Json]:
    """Return the owner references of an object."""
    references: Sequence[Json] = live.get("metadata", {}).get("ownerReferences") or ()
    return references


def is_applied_work(reference: Json) -> bool:
    """Return whether an owner reference names an AppliedWork."""
    group = reference["apiVersion"].rpartition("/")[0]
    return bool(group == APPLIED_WORK.group and reference["kind"] == APPLIED_WORK.kind)


def is_owned(live: Json, *, uid: str) -> bool:
    """Return whether the AppliedWork with this uid owns the object."""
    return any(reference["uid"] == uid for reference in owners(live))


def orphans(live: Json, *, is_orphan: Callable[[str], bool]) -> set[str]:
    """Return the names of owners that are AppliedWorks whose Works no longer exist.

    A member that left the fleet keeps its objects. Once it has rejoined, these old owners must not
    count.
    """
    works = {each["name"] for each in owners(live) if is_applied_work(each)}
    return {name for name in works if is_orphan(name)}


def without(live: Json, names: Collection[str]) -> dict[str, Any]:
    """Return the object without the owners that are AppliedWorks of these names."""
    kept = [
        dict(each) for each in owners(live) if not (is_applied_work(each) and each["name"] in names)
    ]
    return {**live, "metadata": {**live["metadata"], "ownerReferences": kept}}


def refusal(live: Json | None, *, uid: str, strategy: ApplyStrategy) -> Refusal | None:
    """Return why the object must be left alone, or None if its owners allow writing it.

    Args:
        live: the object on the member; None if it does not exist.
        uid: uid of the AppliedWork for which the agent wants to write.
        strategy: the Work's apply strategy.
    """
    if live is None:
        return None
    if is_owned(live, uid=uid):
        others = [each for each in owners(live) if each["uid"] != uid]
        error = _objection(others, strategy)
        return Refusal(ManifestReason.APPLY_FAILED, _OWNERS + error) if error else None
    if strategy.when_to_take_over is WhenToTakeOver.NEVER:
        return Refusal(ManifestReason.NOT_TAKEN_OVER, ApplyError.NOT_OWNED)
    error = _claim(owners(live), strategy)
    return Refusal(ManifestReason.TAKE_OVER_FAILED, error) if error else None


def _objection(others: Sequence[Json], strategy: ApplyStrategy) -> str:
    """Return why an object that the Work owns with others must not be written; empty if it may."""
    if others and not strategy.allow_co_ownership:
        return ApplyError.CO_OWNED
    if any(is_applied_work(each) for each in others):
        return ApplyError.OWNED_BY_OTHER_WORK
    return ""


def _claim(others: Sequence[Json], strategy: ApplyStrategy) -> str:
    if others and not strategy.allow_co_ownership:
        listed = " ".join(_shown(each) for each in others)
        return f"{_TAKE_OVER}{_OTHER_OWNERS}(existingOwnerRefs: [{listed}])"
    if any(is_applied_work(each) for each in others):
        return ApplyError.CLAIMED_BY_OTHER_WORK
    return ""


def _shown(reference: Json) -> str:
    return (
        f"{{APIVersion:{reference['apiVersion']} Kind:{reference['kind']} "
        f"Name:{reference['name']} UID:{reference['uid']}}}"
    )
