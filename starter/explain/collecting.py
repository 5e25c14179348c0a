"""Reading runs, and in few requests the objects about the clusters and gates that they wait for."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import click

from api import names
from api.approvals import BaseApprovalRequest
from api.bindings import Binding
from api.kinds import CLUSTER_SCOPE, MEMBER_CLUSTER, NAMESPACED_SCOPE, WORK, Kind, Scope
from api.members import MemberCluster
from api.rollout_reports import BaseRolloutReport
from api.runs import UpdateRun
from hub import Forbidden, Hub, Json, NotFound
from planning.placements.binding_steps import WorkReport
from planning.policies import reporting
from planning.policies.reporting import Move
from planning.runs.views import RunView
from starter.explain import troubles
from starter.explain.looks import ClusterEvidence, Evidence
from starter.failures import CommandFailure, ExitCode
from starter.run.reading import read
from starter.targets import Target


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run and the kinds that belong to it."""

    scope: Scope
    run: UpdateRun


async def one(hub: Hub, target: Target, name: str) -> FoundRun:
    """Return the run with this name.

    Raises CommandFailure if it is not found; its advice says where else a run with this name
    exists, or that it may have been deleted.
    """
    try:
        return FoundRun(target.scope, await read(hub, target, name))
    except NotFound as error:
        if not error.details.name:
            raise
        advice = await _elsewhere(hub, target, name)
        raise CommandFailure(str(error), advice=advice, exit_code=ExitCode.NOT_FOUND) from error


async def every(hub: Hub, target: Target) -> list[FoundRun]:
    """Return the runs of the target's namespace, or without one all runs of both scopes.

    Raises Forbidden if the user may read none of these scopes; if only one of them is forbidden,
    it is skipped with a note on stderr.
    """
    scopes = [NAMESPACED_SCOPE] if target.namespace else [CLUSTER_SCOPE, NAMESPACED_SCOPE]
    found: list[FoundRun] = []
    refused: list[Forbidden] = []
    for scope in scopes:
        try:
            found += await _of(hub, scope, target.namespace)
        except Forbidden as error:
            refused.append(error)
    if len(refused) == len(scopes):
        raise refused[0]
    for each in refused:
        click.echo(f"skipped: {each}", err=True)
    return found


async def _of(hub: Hub, scope: Scope, namespace: str) -> Sequence[FoundRun]:
    listing = await hub.list(scope.run, namespace=namespace)
    return [FoundRun(scope, UpdateRun.from_wire(each)) for each in listing.items]


async def _elsewhere(hub: Hub, target: Target, name: str) -> str:
    flags = await _namesakes(hub, name)
    if flags:
        there = ", ".join(f"fleetgate run explain {name}{flag}" for flag in flags)
        return f"a run with this name exists elsewhere: {there}"
    flag = f" -n {target.namespace}" if target.namespace else ""
    return f"it may have been deleted: fleetgate run list{flag}"


async def _namesakes(hub: Hub, name: str) -> list[str]:
    """Return the namespace flags of all runs with this name, as far as the user may read them."""
    found: list[str] = []
    with suppress(Forbidden):
        found += [""] if await hub.find(CLUSTER_SCOPE.run, name) else []
    with suppress(Forbidden):
        listing = await hub.list(NAMESPACED_SCOPE.run, fields=f"metadata.name={name}")
        found += [f" -n {each['metadata']['namespace']}" for each in listing.items]
    return found


# -- what a run waits for ------------------------------------------------------------------


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

        One list of bindings, then concurrently two requests per cluster, one per approval and one
        for the run's report. For `others` only the bindings are used.
        """
        bindings = await self._bindings() if clusters else {}
        looked, approvals, moves = await asyncio.gather(
            asyncio.gather(*(self._cluster(each, bindings.get(each)) for each in clusters)),
            asyncio.gather(*(self._approval(each.request) for each in self._view.gates.approvals)),
            self._moves(),
        )
        return Evidence(
            clusters=dict(zip(clusters, looked, strict=True)),
            steps=tuple(troubles.step_text(bindings.get(each)) for each in others),
            approvals={each.metadata.name: each for each in approvals if each},
            moves=moves,
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

    async def _moves(self) -> Mapping[str, Move]:
        """Return the clusters that left or joined the run; none if no one may tell."""
        # Not noted as unread: most runs have no report.
        with suppress(Forbidden, NotFound):
            found = await self._hub.find(
                self._scope.report, self._view.name, namespace=self._view.namespace
            )
            if found:
                return reporting.remembered(BaseRolloutReport.from_wire(found).status).moves
        return {}

    async def _find(self, kind: Kind, name: str, *, namespace: str = "") -> Json | None:
        return await self._allowed(kind, self._hub.find(kind, name, namespace=namespace))

    async def _allowed(self, kind: Kind, reading: Awaitable[FoundT]) -> FoundT | None:
        try:
            return await reading
        except Forbidden:
            self._unread.add(kind.plural)
            return None
