"""A test's own objects on the hub, and what a run and an agent do with them."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api import names
from api.base import format_time
from api.kinds import (
    CLUSTER_SCOPE,
    CONFIG_MAP,
    MEMBER_CLUSTER,
    NAMESPACE,
    WORK,
    Kind,
    Scope,
    ScopeName,
)
from hub import Conflict, Hub, NotFound
from placement.snapshots import SnapshotTaken, take_snapshot
from planning.placements.selecting import SelectionRules
from tests.support.conditions import condition, condition_of
from tests.support.eventually import eventually, patience

Json = dict[str, Any]

STRATEGY = {
    "comparisonOption": "PartialComparison",
    "type": "ClientSideApply",
    "whenToApply": "Always",
    "whenToTakeOver": "Always",
}


cluster_scoped = pytest.mark.parametrize("scope", [ScopeName.CLUSTER], indirect=True)
"""Marks a test that applies only to a ClusterResourcePlacement."""
namespaced = pytest.mark.parametrize("scope", [ScopeName.NAMESPACED], indirect=True)
"""Marks a test that applies only to a ResourcePlacement."""


def now(*, before: float = 0) -> str:
    """Return the current time, or `before` seconds earlier."""
    return format_time(datetime.now(UTC) - timedelta(seconds=before))


def over(status: str) -> Json:
    """Return the condition of a run that has ended."""
    return condition("Succeeded", status, generation=None, reason="Test")


class World:
    """Members, a namespace with content, and one placement, all named after the test."""

    def __init__(self, hub: Hub, scope: Scope, unique: str) -> None:
        self.hub = hub
        self.scope = scope
        self.unique = unique
        self.name = f"{unique}-p"
        self.home = "" if scope == CLUSTER_SCOPE else unique
        """Namespace of the placement."""
        self.members: list[str] = []
        self._runs: list[str] = []

    async def prepare(self) -> None:
        await self.hub.create(NAMESPACE, {"metadata": {"name": self.unique}})
        await self.content("value1")

    async def clear(self) -> None:
        await self._delete(self.scope.placement, self.name, namespace=self.home)
        await eventually(self._without_placement)
        for run in self._runs:
            await self._delete(self.scope.run, run, namespace=self.home)
        for member in self.members:
            await self._delete(MEMBER_CLUSTER, member)
            with contextlib.suppress(NotFound):
                await self.beat(member, Joined="False")

    async def _without_placement(self) -> bool:
        for work in await self.works():
            await self.let_go(work)
        return await self.placement() is None

    async def _delete(self, kind: Any, name: str, *, namespace: str = "") -> None:
        try:
            await self.hub.delete(kind, name, namespace=namespace)
        except NotFound:
            return

    # What people do.

    async def content(self, value: str, *, name: str = "cm") -> None:
        """Write a ConfigMap in the namespace."""
        metadata = {"name": name, "namespace": self.unique}
        body = {"metadata": metadata, "data": {"key": value}}
        await self.hub.apply(CONFIG_MAP, body, manager="kubectl")

    async def known(self, name: str) -> str:
        """Create a member and wait until the placement has set its finalizer; return its name."""
        member = await self.join(name)

        async def kept() -> bool:
            return "finalizers" in (await self.hub.get(MEMBER_CLUSTER, member))["metadata"]

        await eventually(kept)
        return member

    async def join(self, name: str, *, online: bool = True, **labels: str) -> str:
        """Create a member cluster, healthy if it is online; return its full name."""
        member = f"{self.unique}-{name}"
        await self.hub.create(
            MEMBER_CLUSTER,
            {
                "metadata": {"name": member, "labels": {"test": self.unique, **labels}},
                "spec": {"identity": {"kind": "User", "name": member}},
            },
        )
        if member not in self.members:
            self.members.append(member)
        if online:
            await self.beat(member)
        return member

    async def beat(self, member: str, *, silent: float = 0, **others: str) -> None:
        """Send a heartbeat as the member's agent; `others` are conditions of the agent.

        `silent` is the age of the heartbeat in seconds.
        """
        states = {"Joined": "True", "Healthy": "True"} | others
        conditions = [condition(kind, state, None, reason="Test") for kind, state in states.items()]
        agent = {
            "type": "MemberAgent",
            "conditions": conditions,
            "lastReceivedHeartbeat": now(before=silent),
        }
        patch = {"status": {"agentStatus": [agent], "conditions": conditions}}
        await self.hub.patch(MEMBER_CLUSTER, member, patch, subresource="status")

    def pick_all(self) -> Json:
        """Return a policy that picks exactly the test's own members."""
        term = {"labelSelector": {"matchLabels": {"test": self.unique}}}
        required = {"clusterSelectorTerms": [term]}
        affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        return {"placementType": "PickAll", "affinity": affinity}

    def pick_fixed(self, *members: str) -> Json:
        return {"placementType": "PickFixed", "clusterNames": list(members)}

    def selectors(self) -> list[Json]:
        """Return selectors for everything in the test's namespace that the scope allows."""
        if self.home:
            return [{"group": "", "version": "v1", "kind": "ConfigMap"}]
        return [{"group": "", "version": "v1", "kind": "Namespace", "name": self.unique}]

    async def place(self, policy: Json | None = None, **spec: Any) -> Json:
        """Create the placement."""
        whole = {
            "resourceSelectors": self.selectors(),
            "policy": policy or self.pick_all(),
            "strategy": {"type": "External"},
        } | spec
        metadata = {"name": self.name} | ({"namespace": self.home} if self.home else {})
        return await self.hub.create(self.scope.placement, {"metadata": metadata, "spec": whole})

    async def change(self, **spec: Any) -> Json:
        """Change the placement's spec."""
        return await self.hub.patch(
            self.scope.placement, self.name, {"spec": spec}, namespace=self.home
        )

    # What a run does.

    async def start_run(self, index: str, *, name: str = "run") -> str:
        """Create a run of the placement that is not executed; return its full name."""
        name = f"{self.unique}-{name}"
        spec = {"placementName": self.name, "stagedRolloutStrategyName": "none"}
        metadata = {"name": name} | ({"namespace": self.home} if self.home else {})
        chosen = {"resourceSnapshotIndex": index} if index else {}
        await self.hub.create(self.scope.run, {"metadata": metadata, "spec": spec | chosen})
        self._runs.append(name)
        return name

    async def tell_run(self, name: str, **status: Any) -> None:
        """Set fields of the run's status."""
        patch = {"status": status}
        await self.hub.patch(self.scope.run, name, patch, namespace=self.home, subresource="status")

    async def roll_out(self, member: str, index: int = 0, *, run: str = "run", **spec: Any) -> Json:
        """Write a binding as a run does: first its status, then its spec (decision record 0039)."""
        binding = await self.binding(member)
        metadata = {"name": binding["metadata"]["name"]} | (
            {"namespace": self.home} if self.home else {}
        )
        started = condition(
            "RolloutStarted",
            generation=binding["metadata"]["generation"] + 1,
            message=f"resourceSnapshotIndex: {index}, updateRun: {run}",
        )
        body = {"metadata": metadata, "status": {"conditions": [started]}}
        await self.hub.apply(
            self.scope.binding, body, subresource="status", manager="fleetgate-engine"
        )
        wanted = {
            "state": "Bound",
            "resourceSnapshotName": f"{self.name}-{index}-snapshot",
            "applyStrategy": STRATEGY,
        } | spec
        patch = [
            {"op": "add", "path": f"/spec/{field}", "value": value}
            for field, value in wanted.items()
        ]
        return await self.hub.patch(
            self.scope.binding, metadata["name"], patch, namespace=self.home
        )

    # What an agent does.

    async def report(
        self,
        member: str,
        *,
        applied: str = "True",
        available: str = "True",
        reason: str = "AllManifestsAvailable",
        manifests: list[Json] | None = None,
    ) -> None:
        """Report on the newest content of the member's Work."""
        work = await eventually(lambda: self.work(member))
        await self.report_on(
            work, applied=applied, available=available, reason=reason, manifests=manifests
        )

    async def report_on(
        self,
        work: Json,
        *,
        applied: str = "True",
        available: str = "True",
        reason: str = "AllManifestsAvailable",
        manifests: list[Json] | None = None,
    ) -> None:
        """Report on a Work that was read before."""
        generation = work["metadata"]["generation"]
        conditions = [condition("Applied", applied, generation, reason="AllManifestsApplied")]
        if applied == "True" and available:
            conditions.append(condition("Available", available, generation, reason=reason))
        status = {"conditions": conditions, "manifestConditions": manifests or []}
        metadata = work["metadata"]
        await self.hub.patch(
            WORK,
            metadata["name"],
            {"status": status},
            namespace=metadata["namespace"],
            subresource="status",
        )

    async def hold(self, work: Json) -> None:
        """Set the finalizer of a Work, as the agent does, which blocks its deletion."""
        await self._set_finalizers(work, [names.WORK_FINALIZER])

    async def let_go(self, work: Json) -> None:
        """Remove the finalizer of a deleted Work, as if its objects on the member were gone."""
        await self._set_finalizers(work, [])

    async def _set_finalizers(self, work: Json, finalizers: list[str]) -> None:
        metadata = work["metadata"]
        patch = {"metadata": {"finalizers": finalizers}}
        try:
            await self.hub.patch(WORK, metadata["name"], patch, namespace=metadata["namespace"])
        except (NotFound, Conflict):
            return

    # What can be observed.

    async def placement(self) -> Json | None:
        return await self.hub.find(self.scope.placement, self.name, namespace=self.home)

    async def said(self, kind: str) -> Json:
        """Return a condition of the placement, by the end of its type."""
        return condition_of(await self.placement(), f"{self.scope.placement.kind}{kind}")

    async def told(self, kind: str, **wanted: Any) -> Json:
        """Wait until a condition of the placement has these values."""

        return await eventually(
            lambda: self.said(kind), lambda found: found and wanted.items() <= found.items()
        )

    async def bindings(self) -> list[Json]:
        return await self._owned(self.scope.binding)

    async def binding(self, member: str) -> Json:
        """Wait for the binding on a member; return it."""

        found = await eventually(
            self.bindings, lambda seen: any(_on(each, member) for each in seen)
        )
        return next(each for each in found if _on(each, member))

    async def bound(self, member: str, kind: str, **wanted: Any) -> Json:
        """Wait until a condition of the binding has these values; return the binding."""
        return await eventually(
            lambda: self.binding(member), lambda body: shows(body, kind, **wanted)
        )

    async def becomes(self, kind: Kind, body: Json, is_so: Callable[[Json], bool]) -> Json:
        """Wait until a changed object fulfils `is_so`, even if only for a moment."""
        metadata = body["metadata"]
        stream = self.hub.watch(
            kind,
            resource_version=metadata["resourceVersion"],
            namespace=self.home,
            fields=f"metadata.name={metadata['name']}",
        )
        async with asyncio.timeout(patience()), contextlib.aclosing(stream) as events:
            async for event in events:
                if event.type == "MODIFIED" and is_so(event.object):
                    return event.object
        raise AssertionError("the watch ended before the object changed as expected")

    async def policies(self) -> list[Json]:
        return await self._owned(self.scope.policy_snapshot)

    async def snapshots(self) -> list[Json]:
        """Return the resource snapshots, oldest first."""
        found = await self._owned(self.scope.resource_snapshot)
        return sorted(found, key=lambda each: int(each["metadata"]["labels"][names.RESOURCE_INDEX]))

    async def snapshot(self, index: int) -> Json:
        """Wait for the master snapshot of an index; return it."""

        name = f"{self.name}-{index}-snapshot"
        kind = self.scope.resource_snapshot
        return await eventually(lambda: self.hub.find(kind, name, namespace=self.home))

    async def works(self) -> list[Json]:
        labels = f"{names.PARENT_PLACEMENT}={self.name}"
        return (await self.hub.list(WORK, labels=labels)).items

    async def work(self, member: str) -> Json | None:
        """Return the first Work of a member, or None."""
        namespace = names.member_namespace(member)
        found = [each for each in await self.works() if each["metadata"]["namespace"] == namespace]
        return found[0] if found else None

    async def _owned(self, kind: Any) -> list[Json]:
        labels = f"{names.PARENT_PLACEMENT}={self.name}"
        return (await self.hub.list(kind, namespace=self.home, labels=labels)).items


def shows(body: Json, kind: str, **wanted: Any) -> bool:
    """Return whether a condition of an object's current generation has these values."""
    found = condition_of(body, kind)
    fresh: bool = found.get("observedGeneration") == body["metadata"]["generation"]
    return fresh and wanted.items() <= found.items()


def _on(binding: Json, member: str) -> bool:
    return bool(binding["spec"]["targetCluster"] == member)


async def taken(world: World) -> SnapshotTaken:
    """Store the content at once, as a run without an index does."""
    return await take_snapshot(
        world.hub,
        scope=world.scope,
        namespace=world.home,
        placement=world.name,
        rules=SelectionRules(),
    )
