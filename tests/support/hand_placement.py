"""A hand-made placement: the objects that an external placement system would write.

Only the timing is simulated: the objects are those of the contract, on a real API server. Labels
and annotations are spelled out, independently of the product's constants.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from api.kinds import MEMBER_CLUSTER, NAMESPACE, Kind, Scope
from hub import Hub, Json, NotFound
from tests.support.conditions import condition

PARENT = "kubernetes-fleet.io/parent-CRP"
LATEST = "kubernetes-fleet.io/is-latest-snapshot"
POLICY_INDEX = "kubernetes-fleet.io/policy-index"
RESOURCE_INDEX = "kubernetes-fleet.io/resource-index"
RESOURCE_HASH = "kubernetes-fleet.io/resource-hash"
NUMBER_OF_SNAPSHOTS = "kubernetes-fleet.io/number-of-resource-snapshots"
SUBINDEX = "kubernetes-fleet.io/subindex-of-resource-snapshot"
PICK_ALL: Json = {"placementType": "PickAll"}


@dataclass
class HandPlacement:
    """One placement with its clusters, snapshots and bindings, written by hand."""

    hub: Hub
    scope: Scope
    name: str
    namespace: str = ""
    ahead: timedelta = timedelta(0)
    """How far the clocks of members and people are ahead."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Labels for everything that is written, to recognize it."""

    # -- the placement system --------------------------------------------------------------

    async def create(self, clusters: Mapping[str, Mapping[str, str]], *, versions: int = 1) -> None:
        """Create everything that a run needs; `clusters` maps cluster names to labels."""
        if self.namespace:
            await self.hub.apply(NAMESPACE, {"metadata": {"name": self.namespace}})
        await asyncio.gather(
            self.place(),
            self.policy(0),
            *(self.snapshot(index, latest=index == versions - 1) for index in range(versions)),
            *(self.member(cluster, labels) for cluster, labels in clusters.items()),
            *(self.binding(cluster) for cluster in clusters),
        )

    async def place(self, **spec: object) -> None:
        """Write the placement; the objects that it selects do not exist."""
        selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "any"}
        if not self.namespace:
            selector |= {"kind": "Namespace"}
        by_default = {"resourceSelectors": [selector], "strategy": {"type": "External"}}
        await self.write(self.scope.placement, self.name, {"spec": by_default | spec})

    async def policy(
        self,
        index: int,
        *,
        policy: Json | None = PICK_ALL,
        scheduled: str = "True",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Write the latest policy snapshot; `scheduled` is its condition's status, or empty."""
        written = {PARENT: self.name, LATEST: "true", POLICY_INDEX: str(index)}
        spec = ({"policy": policy} if policy else {}) | {"policyHash": "aGFzaA=="}
        created = await self.write(
            self.scope.policy_snapshot,
            f"{self.name}-{index}",
            {"spec": spec},
            labels=written | dict(labels or {}),
            annotations=annotations or {},
        )
        if scheduled:
            await self.say_scheduled(index, scheduled, created["metadata"]["generation"])

    async def say_scheduled(self, index: int, status: str, generation: int = 1) -> None:
        """Write the condition that says whether scheduling of a policy snapshot is done."""
        said = [condition("Scheduled", status, generation)]
        content = {"observedCRPGeneration": 1, "conditions": said, "targetClusters": []}
        await self.say(self.scope.policy_snapshot, f"{self.name}-{index}", content)

    async def snapshot(
        self,
        index: int,
        *,
        latest: bool = True,
        resources: Sequence[Json] = (),
        size: int = 1,
        hashed: bool = True,
    ) -> None:
        """Write the master resource snapshot of an index; without a hash it is not a master."""
        annotations = {NUMBER_OF_SNAPSHOTS: str(size)}
        annotations |= {RESOURCE_HASH: str(index)} if hashed else {}
        name, latest_mark = self.snapshot_name(index), {LATEST: str(latest).lower()}
        await self._snapshot(name, index, resources, latest_mark, annotations)

    async def part(self, index: int, number: int, *resources: Json) -> None:
        """Write another resource snapshot of an index, beside the master."""
        name, annotations = f"{self.name}-{index}-{number}", {SUBINDEX: str(number)}
        await self._snapshot(name, index, resources, {}, annotations)

    async def _snapshot(
        self,
        name: str,
        index: int,
        resources: Sequence[Json],
        labels: Mapping[str, str],
        annotations: Mapping[str, str],
    ) -> None:
        labels = {PARENT: self.name, RESOURCE_INDEX: str(index), **labels}
        body = {"spec": {"selectedResources": list(resources)}}
        await self.write(
            self.scope.resource_snapshot, name, body, labels=labels, annotations=annotations
        )

    def snapshot_name(self, index: int) -> str:
        """Return the name of the master snapshot of an index."""
        return f"{self.name}-{index}-snapshot"

    async def member(self, cluster: str, labels: Mapping[str, str]) -> None:
        """Register a member cluster."""
        identity = {"kind": "User", "name": cluster, "apiGroup": "rbac.authorization.k8s.io"}
        metadata = {"name": cluster, "labels": {**self.marks, **labels}}
        await self.hub.apply(MEMBER_CLUSTER, {"metadata": metadata, "spec": {"identity": identity}})

    async def binding(
        self,
        cluster: str,
        *,
        name: str = "",
        policy: int = 0,
        state: str = "Scheduled",
        finalizers: Iterable[str] = (),
    ) -> None:
        """Bind the placement to a cluster, as a scheduler would."""
        spec = {
            "state": state,
            "resourceSnapshotName": "",
            "schedulingPolicySnapshotName": f"{self.name}-{policy}",
            "targetCluster": cluster,
            "clusterDecision": {"clusterName": cluster, "selected": True, "reason": "by hand"},
        }
        await self.write(
            self.scope.binding,
            name or self.binding_name(cluster),
            {"spec": spec},
            labels={PARENT: self.name},
            finalizers=list(finalizers),
        )

    def binding_name(self, cluster: str) -> str:
        """Return the name of a cluster's binding, which differs from the cluster's."""
        return f"{self.name}-{cluster}"

    async def read_binding(self, cluster: str) -> Json:
        """Return a cluster's binding as it is now."""
        name = self.binding_name(cluster)
        return await self.hub.get(self.scope.binding, name, namespace=self.namespace)

    async def report(
        self,
        cluster: str,
        kind: str = "Available",
        status: str = "True",
        reason: str = "",
        *,
        generation: int = 0,
    ) -> None:
        """Report a condition as a work generator would, by default for the current generation."""
        name = self.binding_name(cluster)
        generation = generation or (await self.read_binding(cluster))["metadata"]["generation"]
        said = condition(kind, status, generation, reason=reason, at=self._now)
        metadata = {"name": name, "namespace": self.namespace}
        await self.hub.apply(
            self.scope.binding,
            {"metadata": metadata, "status": {"conditions": [said]}},
            subresource="status",
            manager=f"work-generator-{kind.lower()}",
        )

    # -- people ----------------------------------------------------------------------------

    async def strategy(self, name: str, stages: Sequence[Json]) -> None:
        """Write a strategy."""
        await self.write(self.scope.strategy, name, {"spec": {"stages": list(stages)}})

    def run_spec(self, strategy: str, *, index: str = "", state: str = "Run") -> Json:
        """Return the spec of a run of this placement."""
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
        return await self.write(self.scope.run, name, {"spec": spec})

    async def read_run(self, name: str) -> Json:
        """Return a run as it is now."""
        return await self.hub.get(self.scope.run, name, namespace=self.namespace)

    async def set_state(self, run: str, state: str) -> Json:
        """Change the desired state of a run."""
        patch = {"spec": {"state": state}}
        return await self.hub.patch(self.scope.run, run, patch, namespace=self.namespace)

    async def delete_run(self, name: str) -> None:
        """Delete a run, if it exists."""
        try:
            await self.hub.delete(self.scope.run, name, namespace=self.namespace)
        except NotFound:
            return

    async def ask(
        self,
        request: str,
        *,
        run: str,
        stage: str,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Write an approval request in place of the run."""
        spec = {"parentStageRollout": run, "targetStage": stage}
        marks = {"annotations": dict(annotations)} if annotations else {}
        await self.write(self.scope.approval, request, {"spec": spec}, labels=labels, **marks)

    async def approve(self, request: str, *, generation: int = 1) -> None:
        """Approve as the user documentation does it with kubectl."""
        approved = condition(
            "Approved", "True", generation, reason="testPassed", message="lgtm", at=self._now
        )
        await self.say(self.scope.approval, request, {"conditions": [approved]})

    async def find_approval(self, request: str) -> Json | None:
        """Return an approval request, if it exists."""
        return await self.hub.find(self.scope.approval, request, namespace=self.namespace)

    # -- objects of the placement's namespace ----------------------------------------------

    async def write(
        self,
        kind: Kind,
        name: str,
        content: Json,
        *,
        labels: Mapping[str, str] | None = None,
        **metadata: object,
    ) -> Json:
        """Create an object next to the placement."""
        metadata |= {"labels": dict(labels)} if labels else {}
        return await self.hub.create(kind, self.body(content, name=name, **metadata))

    async def say(self, kind: Kind, name: str, status: Json) -> Json:
        """Write the status of an object next to the placement."""
        return await self.hub.patch(
            kind, name, {"status": status}, namespace=self.namespace, subresource="status"
        )

    def body(self, content: Json, *, name: str = "", **metadata: object) -> Json:
        """Return an object in the placement's namespace, by default with the placement's name."""
        placed = {"namespace": self.namespace} if self.namespace else {}
        labels = metadata.pop("labels", {})
        assert isinstance(labels, Mapping)
        marked = {"labels": {**self.marks, **labels}} if self.marks or labels else {}
        return {"metadata": {"name": name or self.name, **placed, **metadata, **marked}} | content

    @property
    def _now(self) -> datetime:
        return datetime.now(UTC) + self.ahead
