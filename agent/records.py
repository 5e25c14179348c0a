"""The AppliedWork: owner and record of the objects that a Work put on the member.

contract: placement 8
"""

from collections.abc import Sequence

from api.base import OwnerReference
from api.kinds import APPLIED_WORK
from api.works import AppliedResource, AppliedWork, AppliedWorkSpec, Work
from hub import Hub, Json, NotFound


class Records:
    """The AppliedWorks of one member."""

    def __init__(self, cluster: Hub) -> None:
        self._cluster = cluster

    async def find(self, name: str) -> AppliedWork | None:
        """Return the record of a Work; None if there is none.

        It is read from the member, not from a cache: objects missing from it would never be
        removed.
        """
        body = await self._cluster.find(APPLIED_WORK, name)
        return None if body is None else AppliedWork.from_wire(body)

    async def open(self, work: Work) -> AppliedWork:
        """Return the record of a Work; create it if it does not exist."""
        found = await self.find(work.metadata.name)
        if found is not None:
            return found
        spec = AppliedWorkSpec(work_name=work.metadata.name, work_namespace=work.metadata.namespace)
        body = {"metadata": {"name": work.metadata.name}, "spec": spec.to_wire()}
        return AppliedWork.from_wire(await self._cluster.create(APPLIED_WORK, body))

    async def note(self, record: AppliedWork, resources: Sequence[AppliedResource]) -> None:
        """Record which objects are on the member, if that has changed."""
        fresh = [each.to_wire() for each in resources]
        if fresh == [each.to_wire() for each in record.status.applied_resources]:
            return
        patch: list[Json] = [
            # A record that was deleted and recreated meanwhile must not be written.
            {"op": "test", "path": "/metadata/uid", "value": record.metadata.uid},
            {"op": "add", "path": "/status", "value": {"appliedResources": fresh}},
        ]
        await self._cluster.patch(APPLIED_WORK, record.metadata.name, patch, subresource="status")
        record.status.applied_resources = list(resources)

    async def remove(self, record: AppliedWork) -> None:
        """Request deletion of the record and everything it owns; do not wait for it."""
        if record.metadata.deletion_timestamp is not None:
            return
        try:
            await self._cluster.delete(
                APPLIED_WORK,
                record.metadata.name,
                uid=record.metadata.uid,
                propagation="Foreground",
            )
        except NotFound:
            return


def is_of(record: AppliedWork, work: Work) -> bool:
    """Return whether a record belongs to this Work, not to its namesake in another fleet."""
    wanted = (work.metadata.namespace, work.metadata.name)
    return (record.spec.work_namespace, record.spec.work_name) == wanted


def owner_reference(record: AppliedWork) -> OwnerReference:
    """Return the owner reference that applied objects have to their AppliedWork."""
    return OwnerReference(
        api_version=APPLIED_WORK.api_version,
        kind=APPLIED_WORK.kind,
        name=record.metadata.name,
        uid=record.metadata.uid,
        block_owner_deletion=True,
    )
