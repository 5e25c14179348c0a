"""Users with access to only one namespace, with the Roles that ship for them."""

from pathlib import Path

import pytest

from api.kinds import NAMESPACED_SCOPE, Kind
from hub import Hub
from tests.agent import credentials
from tests.rights.people import in_force
from tests.starter.driven.rollouts import APPROVAL, Rollout

ROLES = ("fleetgate-rollout-editor", "fleetgate-rollout-approver")
ROLE_BINDING = Kind(
    "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", namespaced=True
)

pytestmark = pytest.mark.parametrize("scope", [NAMESPACED_SCOPE], ids=["sur"])


async def kubeconfig_of_team(hub: Hub, hub_kubeconfig: Path, folder: Path, namespace: str) -> str:
    """Return the kubeconfig of a user who rolls out in that namespace."""
    await credentials.grant(hub, "namespace-rollouts.yaml")
    made = await credentials.kubeconfig_of_nobody(hub, hub_kubeconfig, folder, name=namespace)
    subject = {"kind": "ServiceAccount", "name": namespace, "namespace": "default"}
    for role in ROLES:
        reference = {"apiGroup": ROLE_BINDING.group, "kind": "ClusterRole", "name": role}
        metadata = {"name": role, "namespace": namespace}
        body = {"metadata": metadata, "subjects": [subject], "roleRef": reference}
        await hub.create(ROLE_BINDING, body)
        user = f"system:serviceaccount:default:{namespace}"
        await in_force(hub, user, role, namespace=namespace)
    return str(made)


async def test_a_team_starts_approves_stops_and_rolls_back_in_its_namespace(
    rollout: Rollout, hub: Hub, hub_kubeconfig: Path, tmp_path: Path
) -> None:
    first, _ = rollout.clusters
    await rollout.create(
        versions=2, stages=[rollout.stage("one", maxConcurrency=2, beforeStageTasks=[APPROVAL])]
    )
    team = await kubeconfig_of_team(hub, hub_kubeconfig, tmp_path, rollout.name)
    as_team = ("--kubeconfig", team)

    for index, name in enumerate((f"{rollout.name}-v0", f"{rollout.name}-v1")):
        await rollout.run(name, index=index, state="Initialize")
        started = await rollout.type("run", "start", name, *as_team)
        assert started.code == 0, started.err
        approved = await rollout.type("approve", name, *as_team)
        assert approved.code == 0, approved.err
        assert f"stage one begins: {first}" in approved.out
        await rollout.update(index=index)
        await rollout.reaches("UpdateRunSucceeded", run=name, kind="Succeeded")

    typed = await rollout.type("rollback", rollout.name, "--yes", *as_team)
    assert typed.code == 0, typed.err
    assert "cannot show what the run would do: " in typed.err
    assert "waiting for approval before stage one" in typed.out
    stopped = await rollout.type("run", "stop", f"{rollout.name}-rollback-0", *as_team)
    assert stopped.code == 0, stopped.err
    assert "stopped; 0 of 2 clusters are done" in stopped.out
    listed = await rollout.type("snapshot", "list", rollout.name, *as_team)
    assert listed.code == 0, listed.err
