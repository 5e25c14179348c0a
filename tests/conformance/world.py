"""The surroundings of runs, simulated: scheduler, snapshotter and work generator in one.

Everything goes through the Kubernetes API, so that any engine on any hub can be tested.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from api.kinds import MEMBER_CLUSTER, Kind, Scope
from hub import Hub, Json, NotFound
from tests.conformance import objects
from tests.conformance.vocabulary import Says
from tests.conformance.waiting import Expectation, throughout, until
from tests.support.conditions import condition, condition_of
from tests.support.hand_placement import LATEST, PARENT, PICK_ALL, HandPlacement

OWNER = "conformance"
"""Label of everything that a test writes, used to clean up."""
MANAGER = "conformance-test"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One placement with its clusters and runs."""

    hub: Hub
    scope: Scope
    name: str
    """Name of the placement; the names of all other objects start with it."""
    namespace: str
    """Empty in the cluster scope."""
    within: float
    """Seconds that an engine may take for a step, on a machine that is fast enough."""
    stuck_after: float
    """Seconds after which the engine under test reports a cluster as stuck."""
    note: Callable[[Says], None] = field(default=lambda _: None)
    """Called with each row of section 5 that has been seen."""

    # -- names -----------------------------------------------------------------------------

    def cluster(self, short: str) -> str:
        """Full name of a cluster that the test calls, for example, `a`."""
        return f"{self.name}-{short}"

    def clusters(self, shorts: Iterable[str]) -> list[str]:
        """Full names of clusters."""
        return [self.cluster(short) for short in shorts]

    def key(self, name: str) -> str:
        """`<namespace>/<name>`, as the contract prints placements."""
        return f"{self.namespace}/{name}"

    def reference(self, name: str) -> str:
        """`<name>` or `<namespace>/<name>`, as the contract prints bindings."""
        return self.key(name) if self.namespace else name

    # -- the placement system --------------------------------------------------------------

    @property
    def hand(self) -> HandPlacement:
        """The simulated placement system, which uses full names of clusters."""
        marks = {OWNER: self.name}
        return HandPlacement(self.hub, self.scope, self.name, self.namespace, marks=marks)

    async def place(
        self,
        clusters: Mapping[str, Mapping[str, str]] | Iterable[str],
        *,
        policy: Json | None = None,
        counted: int = 0,
        versions: int = 1,
        **placement: object,
    ) -> None:
        """Create everything that a run needs, except the strategy.

        Clusters are given with their labels, or belong to stage `one`; `counted` is the number of
        clusters that the policy snapshot says a PickN policy wants.
        """
        if not isinstance(clusters, Mapping):
            clusters = {short: {"stage": "one"} for short in clusters}
        counts = {objects.NUMBER_OF_CLUSTERS: str(counted)} if counted else {}
        await asyncio.gather(
            self.placement(**placement),
            self.hand.policy(0, policy=policy or PICK_ALL, annotations=counts),
            *(self.hand.snapshot(index) for index in range(versions)),
            *(self.member(short, labels) for short, labels in clusters.items()),
            *(self.binding(short) for short in clusters),
        )

    async def placement(self, **fields: object) -> None:
        """Write the placement; it selects one ConfigMap, or one namespace that does not exist."""
        selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": self.name}
        if not self.namespace:
            selector |= {"kind": "Namespace", "selectionScope": "NamespaceOnly"}
        await self.hand.place(**{"resourceSelectors": [selector]} | fields)

    async def outdate_policy(self, index: int) -> None:
        """Unmark a policy snapshot as the latest."""
        await self.relabel(self.scope.policy_snapshot, f"{self.name}-{index}", {LATEST: "false"})

    async def member(self, short: str, labels: Mapping[str, str]) -> None:
        """Register a member cluster."""
        await self.hand.member(self.cluster(short), labels)

    async def label(self, short: str, labels: Mapping[str, str | None]) -> None:
        """Change labels of a member cluster; None removes one."""
        await self.relabel(MEMBER_CLUSTER, self.cluster(short), labels)

    async def unregister(self, short: str) -> None:
        """Remove a member cluster from the fleet."""
        await self.delete(MEMBER_CLUSTER, self.cluster(short))

    async def binding(
        self,
        short: str,
        *,
        policy: int = 0,
        state: str = "Scheduled",
        cluster: str = "",
        finalizers: Iterable[str] = (),
    ) -> None:
        """Bind the placement to a cluster, as the scheduler does.

        With `cluster`, the binding is for that one, and `short` only determines its name.
        """
        await self.hand.binding(
            self.cluster(cluster or short),
            name=self.binding_name(short),
            policy=policy,
            state=state,
            finalizers=finalizers,
        )

    def binding_name(self, short: str) -> str:
        """Name of a cluster's binding."""
        return self.hand.binding_name(self.cluster(short))

    async def read_binding(self, short: str) -> Json:
        """A cluster's current binding."""
        return await self.hand.read_binding(self.cluster(short))

    async def change_binding(self, short: str, **spec: object) -> Json:
        """Change fields of a binding's spec, as the scheduler or another run may."""
        return await self.patch(self.scope.binding, self.binding_name(short), {"spec": spec})

    async def report(
        self,
        short: str,
        kind: str = "Available",
        status: str = "True",
        reason: str = "",
        *,
        generation: int = 0,
    ) -> None:
        """Set a binding's condition as the work generator would, by default for its generation."""
        await self.hand.report(self.cluster(short), kind, status, reason, generation=generation)

    async def handed_out(self, short: str, *, index: int = 0) -> Json:
        """Wait until a run has updated a cluster's binding to a snapshot, and announced it."""
        return await self.until(
            self.scope.binding,
            self.binding_name(short),
            lambda seen: seen and self.is_handed_out(seen, index=index),
        )

    def is_handed_out(self, binding: Json, *, index: int = 0) -> bool:
        """Return whether a binding is bound to a snapshot, and announced for its generation."""
        spec, meta = binding["spec"], binding["metadata"]
        announced = condition_of(binding, "RolloutStarted")
        written = (spec["resourceSnapshotName"], spec["state"]) == (
            self.hand.snapshot_name(index),
            "Bound",
        )
        return written and bool(announced.get("observedGeneration") == meta["generation"])

    async def untouched(self, *shorts: str) -> None:
        """Check that no run has written the bindings of these clusters."""
        for short in shorts:
            found = await self.read_binding(short)
            assert found["spec"]["resourceSnapshotName"] == "", found["spec"]
            assert not condition_of(found, "RolloutStarted")

    async def update(self, *shorts: str, index: int = 0) -> None:
        """Wait for the run to write each cluster's binding in turn, and report it as available."""
        for short in shorts:
            await self.handed_out(short, index=index)
            await self.report(short)

    # -- people ----------------------------------------------------------------------------

    async def strategy(self, *stages: Json, name: str = "") -> None:
        """Write a strategy."""
        await self.hand.strategy(name or self.name, stages)

    async def approve(
        self, request: str, *, generation: int | None = 1, status: str = "True"
    ) -> None:
        """Approve as the user documentation does with kubectl."""
        said = condition("Approved", status, generation, reason="lgtm")
        body = {"metadata": self.meta(request), "status": {"conditions": [said]}}
        await self.asked(request)
        await self.hub.apply(
            self.scope.approval, body, subresource="status", manager=f"{MANAGER}-approver"
        )

    async def asked(self, request: str) -> Json:
        """Wait until an approval request exists."""
        return await self.until(self.scope.approval, request, bool)

    # -- objects of the world's namespace ----------------------------------------------------

    def meta(self, name: str) -> Json:
        """Metadata of an object."""
        return {"name": name} | ({"namespace": self.namespace} if self.namespace else {})

    async def create(
        self,
        kind: Kind,
        name: str,
        content: Json,
        *,
        labels: Mapping[str, str] | None = None,
    ) -> Json:
        """Create an object that is removed with the world."""
        return await self.hand.write(kind, name, content, labels=labels)

    async def read(self, kind: Kind, name: str) -> Json:
        """The current object."""
        return await self.hub.get(kind, name, namespace=self._home(kind))

    async def find(self, kind: Kind, name: str) -> Json | None:
        """The current object; None if it does not exist."""
        return await self.hub.find(kind, name, namespace=self._home(kind))

    async def patch(self, kind: Kind, name: str, patch: Json | list[Json]) -> Json:
        """Change an object."""
        return await self.hub.patch(kind, name, patch, namespace=self._home(kind))

    async def patch_status(self, kind: Kind, name: str, status: Json | None) -> Json:
        """Change an object's status."""
        return await self.hub.patch(
            kind, name, {"status": status}, namespace=self._home(kind), subresource="status"
        )

    async def relabel(self, kind: Kind, name: str, labels: Mapping[str, str | None]) -> None:
        """Change labels; None removes one."""
        await self.patch(kind, name, {"metadata": {"labels": dict(labels)}})

    async def delete(self, kind: Kind, name: str) -> None:
        """Delete an object, if it exists."""
        with suppress(NotFound):
            await self.hub.delete(kind, name, namespace=self._home(kind))

    async def release(self, kind: Kind, name: str) -> None:
        """Remove all finalizers from an object that is being deleted."""
        with suppress(NotFound):
            await self.patch(kind, name, {"metadata": {"finalizers": None}})

    async def until(self, kind: Kind, name: str, expect: Expectation, *, within: float = 0) -> Json:
        """Watch an object until it is as expected."""
        seen = await until(
            self.hub,
            kind,
            name,
            expect,
            namespace=self._home(kind),
            within=within or self.within,
        )
        return seen or {}

    async def gone(self, kind: Kind, name: str) -> None:
        """Wait until an object does not exist."""
        await self.until(kind, name, lambda seen: seen is None)

    async def throughout(
        self, kind: Kind, name: str, expect: Expectation, *, seconds: float
    ) -> None:
        """Watch an object for a while; fail if it is not as expected at any moment."""
        await throughout(self.hub, kind, name, expect, namespace=self._home(kind), seconds=seconds)

    def _home(self, kind: Kind) -> str:
        return self.namespace if kind.namespaced else ""

    async def clear(self) -> None:
        """Remove everything that the test has written, and what the engine has created for it."""
        own = f"{OWNER}={self.name}"
        made = f"{PARENT}={self.name}"
        kinds = self.scope
        bindings = await self.hub.list(kinds.binding, namespace=self.namespace, labels=made)
        held = [each["metadata"] for each in bindings.items if each["metadata"].get("finalizers")]
        await asyncio.gather(*(self.release(kinds.binding, each["name"]) for each in held))
        await asyncio.gather(
            *(
                self._remove(kind, own)
                for kind in (kinds.run, kinds.strategy, kinds.placement, MEMBER_CLUSTER)
            ),
            *(
                self._remove(kind, made)
                for kind in (kinds.binding, kinds.policy_snapshot, kinds.resource_snapshot)
            ),
        )

    async def _remove(self, kind: Kind, labels: str) -> None:
        await self.hub.delete_all(kind, namespace=self._home(kind), labels=labels)
