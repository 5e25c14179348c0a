"""What a placement picks changes, and runs follow, in both scopes (contract: placement 4, 6)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.fleet import Fleet
from tests.e2e.namespaced import namespace_placement

FOUND = "found all cluster needed as specified by the scheduling policy, found {} cluster(s)"


@dataclass(frozen=True)
class Placement:
    """One placement called `changing` on a fleet, and the runs of it."""

    fleet: Fleet
    kind: str
    run_kind: str
    strategy_kind: str
    selector: dict[str, str]
    namespace: str = ""

    def kubectl(self, command: str, *, stdin: str = "") -> str:
        """Type `kubectl …`, with the namespace where there is one."""
        where = f" -n {self.namespace}" if self.namespace else ""
        return self.fleet.kubectl(command + where, stdin=stdin)

    def create(self, policy: dict[str, Any]) -> None:
        """Have the placement, and a strategy of one stage without gates."""
        selectors = [{"group": "", "version": "v1"} | self.selector]
        spec = {
            "resourceSelectors": selectors,
            "policy": policy,
            "strategy": {"type": "External"},
        }
        self._apply(self.kind, "changing", spec)
        stage = {"name": "all", "labelSelector": {}, "maxConcurrency": 3}
        self._apply(self.strategy_kind, "at-once", {"stages": [stage]})

    def change(self, **policy: Any) -> None:
        """Change the placement's policy."""
        patch = json.dumps({"spec": {"policy": policy}})
        self.kubectl(f"patch {self.kind} changing --type=merge -p '{patch}'")

    def wait_for_clusters(self, count: int) -> None:
        """Wait until the placement says that it has found so many clusters."""
        said = f'.status.conditions[?(@.type=="{self.kind}Scheduled")].message'
        wanted = FOUND.format(count)
        self.kubectl(
            f"wait {self.kind} changing --for=jsonpath='{{{said}}}'='{wanted}' --timeout=60s"
        )

    def roll_out(self, name: str) -> None:
        """Run what is latest to its end."""
        spec = {
            "placementName": "changing",
            "stagedRolloutStrategyName": "at-once",
            "state": "Run",
        }
        self._apply(self.run_kind, name, spec)
        self.kubectl(f"wait {self.run_kind} {name} --for=condition=Succeeded --timeout=90s")

    def deleted_by(self, run: str) -> str:
        """The clusters of a run's deletion stage."""
        path = "{.status.deletionStageStatus.clusters[*].clusterName}"
        return self.kubectl(f"get {self.run_kind} {run} -o jsonpath='{path}'")

    def _apply(self, kind: str, name: str, spec: dict[str, Any]) -> None:
        body = {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        self.kubectl("apply -f -", stdin=json.dumps(body))


def cluster_scoped(fleet: Fleet) -> Placement:
    return Placement(
        fleet,
        kind="ClusterResourcePlacement",
        run_kind="ClusterStagedUpdateRun",
        strategy_kind="ClusterStagedUpdateStrategy",
        selector={"kind": "Namespace", "name": "test-namespace"},
    )


def namespaced(fleet: Fleet) -> Placement:
    manifest = namespace_placement("test-namespace-only", "test-namespace")
    fleet.kubectl("apply -f -", stdin=manifest)
    available = "condition=ClusterResourcePlacementAvailable"
    fleet.kubectl(f"wait crp test-namespace-only --for={available} --timeout=60s")
    return Placement(
        fleet,
        kind="ResourcePlacement",
        run_kind="StagedUpdateRun",
        strategy_kind="StagedUpdateStrategy",
        selector={"kind": "ConfigMap", "name": "test-cm"},
        namespace="test-namespace",
    )


@pytest.fixture(params=[cluster_scoped, namespaced], ids=["csur", "sur"])
def placement(request: pytest.FixtureRequest, fleet: Fleet) -> Iterator[Placement]:
    """A placement that is not there yet, of content that is."""
    fleet.kubectl("create ns test-namespace")
    fleet.kubectl("create cm test-cm --from-literal=key=value1 -n test-namespace")
    made: Placement = request.param(fleet)
    yield made
    made.kubectl(f"delete {made.run_kind} --all --timeout=60s")
    made.kubectl(f"delete {made.kind} changing --timeout=60s")


def values(*members: str) -> dict[str, str]:
    """The content on these members and on no others."""
    return {name: "value1" if name in members else "" for name in ("member1", "member2", "member3")}


def test_picking_more_and_fewer_clusters(placement: Placement, fleet: Fleet) -> None:
    placement.create({"placementType": "PickN", "numberOfClusters": 2})
    placement.wait_for_clusters(2)
    placement.roll_out("two")
    assert fleet.values() == values("member2", "member3")

    placement.change(numberOfClusters=3)
    placement.wait_for_clusters(3)
    placement.roll_out("three")
    assert fleet.values() == values("member1", "member2", "member3")

    placement.change(numberOfClusters=1)
    placement.wait_for_clusters(1)
    assert fleet.values() == values("member1", "member2", "member3"), "a run takes it away"
    placement.roll_out("one")
    assert placement.deleted_by("one") == "member1 member2"
    assert fleet.values() == values("member3")


def test_naming_other_clusters(placement: Placement, fleet: Fleet) -> None:
    placement.create({"placementType": "PickFixed", "clusterNames": ["member1"]})
    placement.wait_for_clusters(1)
    placement.roll_out("first")
    assert fleet.values() == values("member1")

    placement.change(clusterNames=["member1", "member2"])
    placement.wait_for_clusters(2)
    placement.roll_out("extended")
    assert fleet.values() == values("member1", "member2")

    placement.change(clusterNames=["member2"])
    placement.wait_for_clusters(1)
    placement.roll_out("shrunk")
    assert placement.deleted_by("shrunk") == "member1"
    assert fleet.values() == values("member2")


def test_a_member_that_leaves_and_rejoins(placement: Placement, fleet: Fleet) -> None:
    placement.create({"placementType": "PickAll"})
    placement.wait_for_clusters(3)
    placement.roll_out("before")
    assert fleet.values() == values("member1", "member2", "member3")
    kept = json.loads(fleet.kubectl("get membercluster member1 -o json"))

    fleet.kubectl("delete membercluster member1 --timeout=60s")
    try:
        placement.wait_for_clusters(2)
        placement.roll_out("without")
        assert placement.deleted_by("without") == "member1"
        assert fleet.values()["member1"] == "value1", "what it had stays on the member that left"
    finally:
        again = {
            "apiVersion": kept["apiVersion"],
            "kind": kept["kind"],
            "metadata": {"name": "member1", "labels": kept["metadata"]["labels"]},
            "spec": kept["spec"],
        }
        fleet.kubectl("apply -f -", stdin=json.dumps(again))
        fleet.kubectl("wait membercluster member1 --for=condition=Joined --timeout=60s")

    placement.wait_for_clusters(3)
    fleet.kubectl(
        """patch cm test-cm -n test-namespace --type=merge -p '{"data":{"key":"value2"}}'"""
    )
    placement.roll_out("rejoined")
    assert fleet.values() == dict.fromkeys(values(), "value2")
