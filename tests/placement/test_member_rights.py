"""The hub grants a member's agent the rights that it needs, each time the member joins."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from api import names
from api.kinds import MEMBER_CLUSTER, SECRET, WORK, Kind
from hub import Hub, NotFound
from placement.built_in import BuiltInPlacement
from tests.support.eventually import eventually

REVIEW = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
)


@pytest.fixture
async def member(hub: Hub, room: BuiltInPlacement, unique: str) -> AsyncIterator[str]:
    del room
    await register(hub, unique)
    yield unique
    with suppress(NotFound):
        await hub.delete(MEMBER_CLUSTER, unique)


async def register(hub: Hub, member: str) -> None:
    identity = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": member}
    body = {"metadata": {"name": member}, "spec": {"identity": identity}}
    await hub.create(MEMBER_CLUSTER, body)


async def may(hub: Hub, user: str, verb: str, kind: Kind, **where: str) -> bool:
    attributes: dict[str, Any] = {"verb": verb, "group": kind.group, "resource": kind.plural}
    review = {"metadata": {}, "spec": {"user": user, "resourceAttributes": attributes | where}}
    answer = await hub.create(REVIEW, review)
    return bool(answer["status"]["allowed"])


async def may_all(hub: Hub, user: str, member: str) -> bool:
    """Return whether the user may do everything that an agent needs to do."""
    own = names.member_namespace(member)
    return all(
        [
            await may(hub, user, "watch", WORK, namespace=own),
            await may(hub, user, "patch", WORK, namespace=own),
            await may(hub, user, "patch", WORK, namespace=own, subresource="status"),
            await may(hub, user, "watch", MEMBER_CLUSTER, name=member),
            await may(hub, user, "patch", MEMBER_CLUSTER, name=member, subresource="status"),
        ]
    )


async def is_locked_out(hub: Hub, member: str) -> bool:
    return not await may(hub, member, "watch", WORK, namespace=names.member_namespace(member))


async def test_the_identity_of_a_member_has_exactly_the_rights_it_needs(
    hub: Hub, member: str
) -> None:
    await eventually(lambda: may_all(hub, member, member))
    own = names.member_namespace(member)
    for verb, kind, where in (
        ("list", WORK, {}),
        ("list", WORK, {"namespace": "fleet-member-other"}),
        ("create", WORK, {"namespace": own}),
        ("delete", WORK, {"namespace": own}),
        ("list", SECRET, {"namespace": own}),
        ("list", MEMBER_CLUSTER, {}),
        ("patch", MEMBER_CLUSTER, {"name": member}),
        ("patch", MEMBER_CLUSTER, {"name": "other", "subresource": "status"}),
    ):
        assert not await may(hub, member, verb, kind, **where), (verb, kind, where)


async def test_a_new_identity_replaces_the_old_one(hub: Hub, member: str) -> None:
    await eventually(lambda: may_all(hub, member, member))
    other = f"{member}-other"
    identity = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": other}
    await hub.patch(MEMBER_CLUSTER, member, {"spec": {"identity": identity}})
    await eventually(lambda: may_all(hub, other, member))
    await eventually(lambda: is_locked_out(hub, member))


async def test_rights_are_removed_with_the_member_and_granted_again_when_it_rejoins(
    hub: Hub, member: str
) -> None:
    await eventually(lambda: may_all(hub, member, member))
    await hub.delete(MEMBER_CLUSTER, member)

    async def has_left() -> bool:
        return await hub.find(MEMBER_CLUSTER, member) is None

    await eventually(has_left)
    await eventually(lambda: is_locked_out(hub, member))
    await register(hub, member)
    await eventually(lambda: may_all(hub, member, member))
