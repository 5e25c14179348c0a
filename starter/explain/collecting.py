"""Reading the objects about the clusters and gates that a run waits for, in few requests."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from api import names
from api.approvals import BaseApprovalRequest
from api.bindings import Binding
from api.kinds import MEMBER_CLUSTER, WORK, Kind, Scope
from api.members import MemberCluster
from hub import Forbidden, Hub, Json
from planning.placements.binding_steps import WorkReport
from planning.runs.views import RunView
from starter.explain import troubles
from starter.explain.looks import ClusterEvidence, Evidence

FoundT = TypeVar("FoundT")


class Collector:
    """Reads for one run; skips the kinds that the user may not read, and remembers them."""

    def __init__(self, hub: Hub, scope: Scope, view: RunView) -> None:
        self._hub = hub
        self._scope = scope
        self._view = view
        self._unread: set[str] = set()

    async def collect(self, clusters: Sequence[str], *, others: Sequence[str] = ()) -> Evidence:
        """Read the objects of these clusters and of the approvals that the run waits for.

        One list of bindings, then concurrently two requests per cluster and one per approval. For
        `others` only the bindings are used.
        """
        bindings = await self._bindings() if clusters else {}
        looked, approvals = await asyncio.gather(
            asyncio.gather(*(self._cluster(each, bindings.get(each)) for each in clusters)),
            asyncio.gather(*(self._approval(each.request) for each in self._view.gates.approvals)),
        )
        return Evidence(
            clusters=dict(zip(clusters, looked, strict=True)),
            steps=tuple(troubles.step_text(bindings.get(each)) for each in others),
            approvals={each.metadata.name: each for each in approvals if each},
            unread=tuple(sorted(self._unread)),
        )

    async def _bindings(self) -> dict[str, Binding]:
        """List the placement's bindings by cluster; of two, the one that is not being deleted."""
        listing = self._hub.list(
            self._scope.binding,
            namespace=self._view.namespace,
            labels=f"{names.PARENT_PLACEMENT}={self._view.placement}",
        )
        found = await self._allowed(self._scope.binding, listing)
        bindings = [Binding.from_wire(each) for each in (found.items if found else [])]
        going_first = sorted(bindings, key=lambda each: each.metadata.deletion_timestamp is None)
        return {each.spec.target_cluster: each for each in going_first}

    async def _cluster(self, cluster: str, binding: Binding | None) -> ClusterEvidence:
        works, member = await asyncio.gather(
            self._works(cluster, binding), self._find(MEMBER_CLUSTER, cluster)
        )
        return ClusterEvidence(
            binding=binding,
            works=works,
            member=MemberCluster.from_wire(member) if member else None,
        )

    async def _works(self, cluster: str, binding: Binding | None) -> tuple[WorkReport, ...] | None:
        if binding is None:
            return None
        listing = self._hub.list(
            WORK,
            namespace=names.member_namespace(cluster),
            labels=f"{names.PARENT_BINDING}={binding.metadata.name}",
        )
        found = await self._allowed(WORK, listing)
        return tuple(WorkReport.read(each) for each in found.items) if found else None

    async def _approval(self, name: str) -> BaseApprovalRequest | None:
        found = await self._find(self._scope.approval, name, namespace=self._view.namespace)
        return BaseApprovalRequest.from_wire(found) if found else None

    async def _find(self, kind: Kind, name: str, *, namespace: str = "") -> Json | None:
        return await self._allowed(kind, self._hub.find(kind, name, namespace=namespace))

    async def _allowed(self, kind: Kind, reading: Awaitable[FoundT]) -> FoundT | None:
        try:
            return await reading
        except Forbidden:
            self._unread.add(kind.plural)
            return None
