"""The roles for people in deploy/rbac/people.yaml: what each allows, and nothing else."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from api.kinds import SECRET
from hub import Forbidden, Hub, Json
from tests.rights.conftest import Person
from tests.rights.gates import Gate, approval
from tests.rights.people import bind, kubeconfig_of

Attempt = Callable[[Hub, Gate], Awaitable[Any]]

pytestmark = pytest.mark.both_scopes


def named(gate: Gate, ending: str = "") -> Json:
    return {"metadata": {"name": f"{gate.unique}{ending}"} | gate.place}


async def look(hub: Hub, gate: Gate) -> None:
    for kind in (gate.scope.run, gate.scope.strategy, gate.scope.placement):
        await hub.list(kind, namespace=gate.namespace)


async def write_strategy(hub: Hub, gate: Gate) -> None:
    stages = [{"name": "all", "labelSelector": {}}]
    body = named(gate) | {"spec": {"stages": stages}}
    await hub.create(gate.scope.strategy, body, dry_run=True)


async def make_run(hub: Hub, gate: Gate) -> None:
    spec = {"placementName": "p", "stagedRolloutStrategyName": "s"}
    await hub.create(gate.scope.run, named(gate, "-2") | {"spec": spec}, dry_run=True)


def change(kind: str, patch: Json, subresource: str = "") -> Attempt:
    """Change an object that belongs to the gate, or one that does not exist."""
    return lambda hub, gate: hub.patch(
        getattr(gate.scope, kind),
        gate.unique,
        patch,
        namespace=gate.namespace,
        subresource=subresource,
        dry_run=True,
    )


def decide(decision: str, **more: str) -> Attempt:
    """Decide about the gate's run."""

    async def create(hub: Hub, gate: Gate) -> None:
        spec = {"run": gate.unique, "decision": decision, "reason": "INC-7", **more}
        body = named(gate, f"-{decision.lower()}") | {"spec": spec}
        await hub.create(gate.scope.decision, body, dry_run=True)

    return create


async def write_policy(hub: Hub, gate: Gate) -> None:
    target = {"kind": gate.scope.strategy.kind, "name": gate.unique}
    spec = {"targetRefs": [target], "failures": {"most": 1}}
    await hub.create(gate.scope.policy, named(gate) | {"spec": spec}, dry_run=True)


ATTEMPTS: dict[str, Attempt] = {
    "view runs": look,
    "view approvals": lambda hub, gate: hub.list(gate.scope.approval, namespace=gate.namespace),
    "read content": lambda hub, gate: hub.list(
        gate.scope.resource_snapshot, namespace=gate.namespace
    ),
    "write a strategy": write_strategy,
    "create a run": make_run,
    "start a run": change("run", {"spec": {"state": "Run"}}),
    "delete a run": lambda hub, gate: hub.delete(
        gate.scope.run, f"{gate.unique}-none", namespace=gate.namespace
    ),
    "approve": change("approval", approval("ok"), "status"),
    "accept an approval": change("approval", approval("", "ApprovalAccepted"), "status"),
    "request an approval": lambda hub, gate: hub.create(
        gate.scope.approval, named(gate, "-2"), dry_run=True
    ),
    "write a run's status": change("run", {"status": {}}, "status"),
    "skip a cluster": decide("SkipCluster", cluster="member1"),
    "retry a cluster": decide("RetryCluster", cluster="member1"),
    "continue a run": decide("Continue"),
    "write a policy": write_policy,
    "write a binding": change("binding", {"spec": {"state": "Bound"}}),
    "write a binding's status": change("binding", {"status": {}}, "status"),
    "write a placement": change("placement", {"spec": {"revisionHistoryLimit": 3}}),
    "read Secrets": lambda hub, gate: hub.list(SECRET, namespace=gate.namespace),
}
MAY: dict[str, set[str]] = {
    "fleetgate-viewer": {"view runs", "view approvals"},
    "fleetgate-content-viewer": {"read content"},
    "fleetgate-runner": {"view runs", "view approvals", "create a run", "start a run"},
    "fleetgate-approver": {"view runs", "view approvals", "approve"},
    "fleetgate-strategy-author": {"view runs", "write a strategy"},
    "fleetgate-on-call": {
        "view runs",
        "view approvals",
        "skip a cluster",
        "retry a cluster",
        "continue a run",
    },
    "fleetgate-policy-author": {"view runs", "write a policy"},
}


async def allowed(hub: Hub, gate: Gate) -> set[str]:
    found = set()
    for what, attempt in ATTEMPTS.items():
        try:
            await attempt(hub, gate)
        except Forbidden:
            continue
        found.add(what)
    return found


@pytest.mark.parametrize("role", MAY)
async def test_a_role_allows_its_purpose_and_nothing_else(
    role: str, gate: Gate, person: Person
) -> None:
    assert await allowed(await person(f"only-{role}", role), gate) == MAY[role]


@pytest.mark.parametrize("role", MAY)
async def test_a_role_for_one_namespace_applies_only_there(
    role: str, gate: Gate, own_kubeconfig: Path, tmp_path: Path
) -> None:
    """It covers StagedUpdateRuns in the gate's namespace, and no cluster-scoped objects."""
    user = f"{gate.unique}-{role}"
    await bind(gate.admin, user, role, namespace=gate.unique)
    kubeconfig = kubeconfig_of(user, admin=own_kubeconfig, folder=tmp_path)
    async with await Hub.connect(kubeconfig) as hub:
        assert await allowed(hub, gate) == (MAY[role] if gate.namespace else set())


async def test_without_a_role_nothing_is_allowed(gate: Gate, person: Person) -> None:
    assert await allowed(await person("nobody"), gate) == set()
