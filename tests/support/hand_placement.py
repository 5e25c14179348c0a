"""A person with kubectl in the place of a placement system: what an external placement writes.

Nothing here is simulated but the speed: the objects are the contract's, on a real API server.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE, Scope
from hub import Hub, Json, NotFound
from tests.support.conditions import condition, condition_of, says

__all__ = ["HandPlacement", "condition", "condition_of", "says"]


@dataclass
class HandPlacement:
    """One placement with its clusters, snapshots and bindings, written by hand."""

    hub: Hub
    scope: Scope
    name: str
    namespace: str = ""
    ahead: timedelta = timedelta(0)
    """How wrong the clocks of members and people are."""

    async def create(self, clusters: dict[str, dict[str, str]], *, versions: int = 1) -> None:
        """Make everything that a run needs; clusters are given with their labels."""
        if self.namespace:
            await self.hub.apply(NAMESPACE, {"metadata": {"name": self.namespace}})
        await self._create_placement()
        await self.policy(0, clusters=list(clusters))
        for index in range(versions):
            await self.snapshot(index, latest=index == versions - 1)
        for cluster, labels in clusters.items():
            await self.member(cluster, labels)
            await self.binding(cluster)

    async def _create_placement(self) -> None:
        selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "any"}
        if not self.namespace:
            selector |= {"kind": "Namespace"}
        await self.hub.create(
            self.scope.placement,
            self.body(
                {"spec": {"resourceSelectors": [selector], "strategy": {"type": "External"}}}
            ),
        )

    async def policy(self, index: int, *, clusters: Sequence[str]) -> None:
        """Write the policy snapshot of an index as the latest, fully scheduled."""
        name = f"{self.name}-{index}"
        labels = {
            names.PARENT_PLACEMENT: self.name,
            names.IS_LATEST_SNAPSHOT: "true",
            names.POLICY_INDEX: str(index),
        }
        body = self.body(
            {"spec": {"policy": {"placementType": "PickAll"}, "policyHash": "aGFzaA=="}},
            name=name,
            labels=labels,
        )
        created = await self.hub.create(self.scope.policy_snapshot, body)
        scheduled = condition("Scheduled", "True", created["metadata"]["generation"])
        status = {"observedCRPGeneration": 1, "conditions": [scheduled], "targetClusters": []}
        await self.hub.patch(
            self.scope.policy_snapshot,
            name,
            {"status": status},
            namespace=self.namespace,
            subresource="status",
        )

    async def snapshot(self, index: int, *, latest: bool) -> None:
        """Write a master resource snapshot."""
        labels = {
            names.PARENT_PLACEMENT: self.name,
            names.IS_LATEST_SNAPSHOT: str(latest).lower(),
            names.RESOURCE_INDEX: str(index),
        }
        annotations = {names.RESOURCE_HASH: "0", names.NUMBER_OF_RESOURCE_SNAPSHOTS: "1"}
        body = self.body(
            {"spec": {"selectedResources": []}},
            name=f"{self.name}-{index}-snapshot",
            labels=labels,
            annotations=annotations,
        )
        await self.hub.create(self.scope.resource_snapshot, body)

    async def member(self, cluster: str, labels: dict[str, str]) -> None:
        """Register a member cluster."""
        identity = {"kind": "User", "name": cluster, "apiGroup": "rbac.authorization.k8s.io"}
        body = {"metadata": {"name": cluster, "labels": labels}, "spec": {"identity": identity}}
        await self.hub.apply(MEMBER_CLUSTER, body)

    async def binding(self, cluster: str, *, policy: int = 0, state: str = "Scheduled") -> None:
        """Bind the placement to a cluster, as a scheduler does."""
        decision = {"clusterName": cluster, "selected": True, "reason": "picked by hand"}
        spec = {
            "state": state,
            "resourceSnapshotName": "",
            "schedulingPolicySnapshotName": f"{self.name}-{policy}",
            "targetCluster": cluster,
            "clusterDecision": decision,
        }
        labels = {names.PARENT_PLACEMENT: self.name}
        body = self.body({"spec": spec}, name=self.binding_name(cluster), labels=labels)
        await self.hub.create(self.scope.binding, body)

    def binding_name(self, cluster: str) -> str:
        """Name of a cluster's binding."""
        return f"{self.name}-{cluster}"

    async def read_binding(self, cluster: str) -> Json:
        """A cluster's binding as it is now."""
        name = self.binding_name(cluster)
        return await self.hub.get(self.scope.binding, name, namespace=self.namespace)

    async def report(
        self, cluster: str, kind: str = "Available", status: str = "True", reason: str = ""
    ) -> None:
        """Say of a binding's current generation what a work generator would."""
        found = await self.read_binding(cluster)
        generation = found["metadata"]["generation"]
        reported = condition(kind, status, generation, reason=reason, at=self._now)
        meta = {"name": found["metadata"]["name"], "namespace": self.namespace}
        await self.hub.apply(
            self.scope.binding,
            {"metadata": meta, "status": {"conditions": [reported]}},
            subresource="status",
            manager=f"work-generator-{kind.lower()}",
        )

    async def strategy(self, name: str, stages: list[Json]) -> None:
        """Write a strategy."""
        await self.hub.create(
            self.scope.strategy, self.body({"spec": {"stages": stages}}, name=name)
        )

    def run_spec(self, strategy: str, *, index: str = "", state: str = "Run") -> Json:
        """The spec of a run of this placement."""
        spec = {
            "placementName": self.name,
            "stagedRolloutStrategyName": strategy,
            "state": state,
        }
        return spec | ({"resourceSnapshotIndex": index} if index else {})

    async def create_run(
        self, name: str, strategy: str, *, index: str = "", state: str = "Run"
    ) -> Json:
        """Write a run."""
        spec = self.run_spec(strategy, index=index, state=state)
        return await self.hub.create(self.scope.run, self.body({"spec": spec}, name=name))

    async def read_run(self, name: str) -> Json:
        """A run as it is now."""
        return await self.hub.get(self.scope.run, name, namespace=self.namespace)

    async def set_state(self, run: str, state: str) -> Json:
        """Change what a run is asked to do."""
        patch = {"spec": {"state": state}}
        return await self.hub.patch(self.scope.run, run, patch, namespace=self.namespace)

    async def approve(self, request: str, *, generation: int = 1) -> None:
        """Approve as the user documents do it with kubectl."""
        approved = condition(
            "Approved", "True", generation, reason="testPassed", message="lgtm", at=self._now
        )
        await self.hub.patch(
            self.scope.approval,
            request,
            {"status": {"conditions": [approved]}},
            namespace=self.namespace,
            subresource="status",
        )

    async def find_approval(self, request: str) -> Json | None:
        """An approval request, if it is there."""
        return await self.hub.find(self.scope.approval, request, namespace=self.namespace)

    async def delete_run(self, name: str) -> None:
        """Delete a run, if it is there."""
        try:
            await self.hub.delete(self.scope.run, name, namespace=self.namespace)
        except NotFound:
            return

    @property
    def _now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def body(self, content: Json, *, name: str = "", **metadata: dict[str, str]) -> Json:
        """An object of the placement's namespace, by default with its name."""
        placed = {"namespace": self.namespace} if self.namespace else {}
        return {"metadata": {"name": name or self.name} | placed | metadata} | content
