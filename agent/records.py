"""The AppliedWork: owner of what a Work put on the member, and the record of it.

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
        """The record of a Work, read afresh, because what it forgets nobody removes."""
        body = await self._cluster.find(APPLIED_WORK, name)
        return None if body is None else AppliedWork.from_wire(body)

    async def open(self, work: Work) -> AppliedWork:
        """The record of a Work; a new one if there is none."""
        found = await self.find(work.metadata.name)
        if found is not None:
            return found
        spec = AppliedWorkSpec(work_name=work.metadata.name, work_namespace=work.metadata.namespace)
        body = {"metadata": {"name": work.metadata.name}, "spec": spec.to_wire()}
        return AppliedWork.from_wire(await self._cluster.create(APPLIED_WORK, body))

    async def note(self, record: AppliedWork, resources: Sequence[AppliedResource]) -> None:
        """Write what is on the member, unless the record says just that."""
        fresh = [each.to_wire() for each in resources]
        if fresh == [each.to_wire() for each in record.status.applied_resources]:
            return
        patch: list[Json] = [
            # A record that was deleted and made anew meanwhile is another one.
            {"op": "test", "path": "/metadata/uid", "value": record.metadata.uid},
            {"op": "add", "path": "/status", "value": {"appliedResources": fresh}},
        ]
        await self._cluster.patch(APPLIED_WORK, record.metadata.name, patch, subresource="status")
        record.status.applied_resources = list(resources)

    async def remove(self, record: AppliedWork) -> None:
        """Have the record deleted after all that it owns; returns before that is done."""
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
    """Whether a record stands for this Work, and not for the namesake of another fleet."""
    wanted = (work.metadata.namespace, work.metadata.name)
    return (record.spec.work_namespace, record.spec.work_name) == wanted


def owner_reference(record: AppliedWork) -> OwnerReference:
    """How applied objects name their AppliedWork."""
    return OwnerReference(
        api_version=APPLIED_WORK.api_version,
        kind=APPLIED_WORK.kind,
        name=record.metadata.name,
        uid=record.metadata.uid,
        block_owner_deletion=True,
    )
