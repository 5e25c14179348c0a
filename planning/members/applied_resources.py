"""The record of what an agent has put on a member: what to note, what is left over.

A record is written before the objects are, so that an agent that dies in between still knows
what it may have left behind.

contract: placement 8 (AppliedWork)
"""

from collections.abc import Iterable, Mapping

from api.works import AppliedResource, WorkResourceIdentifier

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name: the same object, whichever version it is written in."""


def identity(resource: WorkResourceIdentifier) -> Identity:
    """What tells one object from all others."""
    return (resource.group, resource.kind, resource.namespace, resource.name)


def left_over(
    recorded: Iterable[AppliedResource], *, wanted: Iterable[WorkResourceIdentifier]
) -> list[AppliedResource]:
    """Recorded objects that the Work does not name any more."""
    kept = {identity(each) for each in wanted}
    return [each for each in recorded if identity(each) not in kept]


def record(
    recorded: Iterable[AppliedResource],
    *,
    wanted: Iterable[WorkResourceIdentifier],
    uids: Mapping[Identity, str],
) -> list[AppliedResource]:
    """The record to keep: everything wanted, then what is recorded besides.

    Args:
        recorded: what the record says now, without what is known to be gone.
        wanted: the objects of the Work that name an object at all, in their order.
        uids: uids of the objects that are known to exist.
    """
    before = list(recorded)
    known = {identity(each): each.uid for each in before} | dict(uids)
    named = {identity(each): each for each in wanted if each.kind and each.name}
    current = [_noted(each, uid=known.get(key, "")) for key, each in named.items()]
    return current + left_over(before, wanted=named.values())


def _noted(resource: WorkResourceIdentifier, *, uid: str) -> AppliedResource:
    fields = resource.model_dump(by_alias=False)
    return AppliedResource.model_validate(fields | ({"uid": uid} if uid else {}))
