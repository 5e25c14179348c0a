"""A team that rolls one ConfigMap out to the embedded fleet, in either scope."""

import json
from dataclasses import dataclass
from typing import Any

from api.kinds import CLUSTER_SCOPE, Kind, Scope
from tests.e2e.fleet import Fleet

NAMESPACE = "test-namespace"
NAME = "team"
PATIENCE = "--timeout=60s"
Json = dict[str, Any]


@dataclass(frozen=True)
class Team:
    """The commands of the team."""

    fleet: Fleet
    scope: Scope

    @property
    def here(self) -> str:
        """The namespace flag for its objects."""
        return f"-n {NAMESPACE}" if self.scope is not CLUSTER_SCOPE else ""

    def prepare(self) -> None:
        """Create the content, the strategy and the namespace, which members must have first."""
        self.fleet.kubectl(f"create ns {NAMESPACE}")
        self.content("value1")
        if self.scope is not CLUSTER_SCOPE:
            self._place_namespace()
        stage = {"name": "all", "labelSelector": {}, "maxConcurrency": "100%"}
        self.apply(self.scope.strategy, NAME, {"stages": [stage]})

    def _place_namespace(self) -> None:
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": NAMESPACE}
        selector["selectionScope"] = "NamespaceOnly"
        self._apply(CLUSTER_SCOPE.placement, "home", {"resourceSelectors": [selector]}, "")
        available = "--for=condition=ClusterResourcePlacementAvailable"
        self.fleet.kubectl(f"wait crp home {available} {PATIENCE}")

    def content(self, value: str) -> None:
        """Write the ConfigMap."""
        meta = {"name": "test-cm", "namespace": NAMESPACE}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"key": value}}
        self.fleet.kubectl("apply -f -", stdin=json.dumps(body))

    def place(self, policy: Json, *, strategy: str = "External", **apply_strategy: str) -> None:
        """Write the placement."""
        selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "test-cm"}
        if self.scope is CLUSTER_SCOPE:
            selector |= {"kind": "Namespace", "name": NAMESPACE}
        rollout: Json = {"type": strategy} | (
            {"applyStrategy": apply_strategy} if apply_strategy else {}
        )
        spec = {"resourceSelectors": [selector], "policy": policy, "strategy": rollout}
        self.apply(self.scope.placement, NAME, spec)

    def roll_out(self, run: str) -> None:
        """Create a run of the newest content and wait until it succeeds."""
        spec = {"placementName": NAME, "stagedRolloutStrategyName": NAME, "state": "Run"}
        self.apply(self.scope.run, run, spec)
        kind = self.scope.run.plural
        self.fleet.kubectl(f"wait {kind} {run} {self.here} --for=condition=Succeeded {PATIENCE}")

    def apply(self, kind: Kind, name: str, spec: Json) -> None:
        """Run `kubectl apply -f -` for one of the team's objects."""
        self._apply(kind, name, spec, NAMESPACE if kind.namespaced else "")

    def _apply(self, kind: Kind, name: str, spec: Json, namespace: str) -> None:
        meta = {"name": name} | ({"namespace": namespace} if namespace else {})
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        self.fleet.kubectl("apply -f -", stdin=json.dumps(body))

    def wait_until_on(self, *clusters: str) -> None:
        """Wait until the placement's status lists exactly these clusters, in any order."""
        self.fleet.until(lambda: self._on() == set(clusters), f"the placement is on {clusters}")

    def _on(self) -> set[str]:
        placement = self.find(self.scope.placement, NAME)
        statuses = placement.get("status", {}).get("placementStatuses", [])
        return {each["clusterName"] for each in statuses if each.get("clusterName")}

    def find(self, kind: Kind, name: str) -> Json:
        """Read one of the team's objects."""
        namespace = NAMESPACE if kind.namespaced else ""
        found = self.fleet.clients.find(kind, name, namespace=namespace)
        assert found is not None, f"{kind} {name} does not exist"
        return found

    def wait_for_snapshot(self, index: str) -> None:
        """Wait until the snapshot with this index exists."""
        kind = self.scope.resource_snapshot.plural
        snapshot = f"{NAME}-{index}-snapshot"
        self.fleet.kubectl(f"wait {kind} {snapshot} {self.here} --for=create {PATIENCE}")

    def read(self, path: str) -> str:
        """Read a part of the placement by its JSON path."""
        kind = self.scope.placement.plural
        return self.fleet.kubectl(f"get {kind} {NAME} {self.here} -o jsonpath='{path}'")

    def has(self, **values: str) -> None:
        """Wait until each member has this value in its ConfigMap; members left out have none."""
        expected = {name: values.get(name, "") for name in self.fleet.addresses.member_kubeconfigs}
        self.fleet.until(lambda: self.fleet.values() == expected, f"members have {expected}")
