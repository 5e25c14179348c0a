"""The record of the objects that an agent has applied on a member, and which are left over.

The record is written before the objects, so that an agent that is killed in between still knows
what it may have left behind.

contract: placement 8 (AppliedWork)
"""

from collections.abc import Iterable, Mapping

from api.works import AppliedResource, WorkResourceIdentifier

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name: the same object in any API version."""


def identity(resource: WorkResourceIdentifier) -> Identity:
    """Return the identity of an object."""
    return (resource.group, resource.kind, resource.namespace, resource.name)


def left_over(
    recorded: Iterable[AppliedResource], *, wanted: Iterable[WorkResourceIdentifier]
) -> list[AppliedResource]:
    """Return the recorded objects that the Work no longer names."""
    kept = {identity(each) for each in wanted}
    return [each for each in recorded if identity(each) not in kept]


def record(
    recorded: Iterable[AppliedResource],
    *,
    wanted: Iterable[WorkResourceIdentifier],
    uids: Mapping[Identity, str],
) -> list[AppliedResource]:
    """Return the record to keep: everything wanted, then the other recorded objects.

    Args:
        recorded: the current record, without objects that are known to be gone.
        wanted: the manifests of the Work, in their order; those without kind or name are skipped.
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
