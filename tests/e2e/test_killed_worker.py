"""The worker is killed with SIGKILL and restarted: at a gate, and in the middle of a stage."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from api.kinds import CLUSTER_RESOURCE_BINDING, CLUSTER_STAGED_UPDATE_RUN
from tests.e2e import objects, steps
from tests.e2e.fleet import DEPLOYMENT, Fleet

GATE = "example-run-before-all"


@pytest.fixture
def run_at_gate(fleet: Fleet) -> dict[str, int]:
    """Start a rollout of a Deployment that waits at its gate; provide the bindings' generations."""
    fleet.kubectl("create ns test-namespace")
    fleet.kubectl("create deployment web --image=nginx:1.20 -n test-namespace")
    fleet.kubectl("apply -f -", stdin=objects.PLACEMENT)
    steps.wait_for_snapshot(fleet, "0")
    fleet.kubectl("apply -f -", stdin=objects.GATED_STRATEGY)
    fleet.kubectl("apply -f -", stdin=objects.run("example-run", index="0", state="Run"))
    steps.pending_approval(fleet, GATE)
    return generations(fleet)


def generations(fleet: Fleet) -> dict[str, int]:
    """Return the generation of each binding, which counts the writes to its spec."""
    found = fleet.clients.items(CLUSTER_RESOURCE_BINDING)
    return {each["metadata"]["name"]: each["metadata"]["generation"] for each in found}


def one_more(before: dict[str, int]) -> dict[str, int]:
    return {name: generation + 1 for name, generation in before.items()}


@contextmanager
def pods_not_starting(fleet: Fleet) -> Iterator[None]:
    """Suspend the simulated nodes, so that no Deployment becomes available."""
    nodes = fleet.process("simulated-nodes")
    nodes.suspend()
    try:
        yield
    finally:
        nodes.resume()


def in_flight(fleet: Fleet) -> list[str]:
    """Return the clusters that are started and not done."""
    run = fleet.clients.find(CLUSTER_STAGED_UPDATE_RUN, "example-run")
    assert run is not None
    clusters = run["status"]["stagesStatus"][0]["clusters"]
    return [
        each["clusterName"]
        for each in clusters
        if [one["type"] for one in each.get("conditions", [])] == ["Started"]
    ]


def test_a_run_resumes_after_its_worker_is_killed_and_repeats_no_cluster(
    fleet: Fleet, run_at_gate: dict[str, int]
) -> None:
    fleet.kill_worker()
    steps.approve_inline(fleet, GATE, "go")  # counts as soon as a worker runs again
    with pods_not_starting(fleet):
        fleet.repair()
        started = '{.status.stagesStatus[0].clusters[1].conditions[?(@.type=="Started")].status}'
        fleet.kubectl(f"wait csur example-run --for=jsonpath='{started}'=True --timeout=60s")
        assert steps.approval_row(fleet, GATE)["APPROVALACCEPTED"] == "True"
        assert in_flight(fleet) == ["member1", "member2"]
        fleet.kill_worker()
        fleet.repair()
        assert in_flight(fleet) == ["member1", "member2"]
    steps.wait_for_run(fleet, "example-run", "Succeeded")
    assert generations(fleet) == one_more(run_at_gate)
    for member in steps.NOWHERE:
        web = fleet.clients.find(DEPLOYMENT, "web", namespace="test-namespace", on=member)
        assert web is not None, member
        assert web["status"]["readyReplicas"] == 1, member
