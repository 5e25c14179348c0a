"""The namespaced part of the how-to "roll out and roll back in stages", typed with few rights."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import deploy
from api.kinds import NAMESPACE as NAMESPACE_KIND
from api.kinds import NAMESPACED_SCOPE, RESOURCE_ENVELOPE, Kind
from hub import Json
from tests.e2e import namespaced, steps
from tests.e2e.fleet import DEPLOYMENT, Fleet
from tests.e2e.namespaced import Person

NAMESPACE = "my-app-namespace"
ROLES = Path(deploy.__file__).parent / "rbac" / "namespace-rollouts.yaml"
RUN = "web-app-rollout-v1-21"
SERVICE = Kind("", "v1", "Service", "services", namespaced=True)
BEFORE, AFTER = f"{RUN}-before-prod-clusters", f"{RUN}-after-prod-clusters"


@pytest.fixture
def team(fleet: Fleet) -> Iterator[Person]:
    """A user with the rights of deploy/rbac in one namespace."""
    fleet.kubectl(f"create ns {NAMESPACE}")
    manifest = namespaced.namespace_placement("my-app-namespace-placement", NAMESPACE)
    fleet.kubectl("apply -f -", stdin=manifest)
    available = "condition=ClusterResourcePlacementAvailable"
    fleet.kubectl(f"wait crp my-app-namespace-placement --for={available} --timeout=60s")
    yield Person(fleet, NAMESPACE, f"--token={token(fleet)}")
    fleet.kubectl(f"delete -f {ROLES}")


def token(fleet: Fleet) -> str:
    """Create a service account with the roles and write access to workloads; return its token."""
    fleet.kubectl(f"apply -f {ROLES}")
    fleet.kubectl(f"create serviceaccount team -n {NAMESPACE}")
    # In a cluster with all controllers, Kubernetes' own ClusterRole "edit" would do.
    what = "--verb=* --resource=deployments.apps,services,configmaps"
    fleet.kubectl(f"create role workloads {what} -n {NAMESPACE}")
    roles = {
        "workloads": "--role=workloads",
        "rollouts": "--clusterrole=fleetgate-rollout-editor",
        "approvals": "--clusterrole=fleetgate-rollout-approver",
    }
    for name, role in roles.items():
        whom = f"--serviceaccount={NAMESPACE}:team"
        fleet.kubectl(f"create rolebinding {name} {role} {whom} -n {NAMESPACE}")
    return fleet.kubectl(f"create token team -n {NAMESPACE}").strip()


def images(fleet: Fleet) -> dict[str, str]:
    """Return the image of the Deployment by member; empty if it is missing."""
    found = {member: find(fleet, DEPLOYMENT, member) for member in steps.NOWHERE}
    return {
        member: body["spec"]["template"]["spec"]["containers"][0]["image"] if body else ""
        for member, body in found.items()
    }


def find(fleet: Fleet, kind: Kind, member: str) -> Json | None:
    return fleet.clients.find(kind, "web-app", namespace=NAMESPACE, on=member)


def test_a_team_can_follow_the_how_to_in_its_namespace_and_do_nothing_else(team: Person) -> None:
    publish(team)
    roll_out(team)
    roll_back(team)
    is_refused_everywhere_else(team)
    cannot_write_what_controllers_write(team)


def publish(team: Person) -> None:
    team.kubectl("create deployment web-app --image=nginx:1.20 --port=80")
    team.kubectl("expose deployment web-app --port=80 --target-port=80")
    team.apply(namespaced.WEB_APP_PLACEMENT)
    team.wait_for_placement("web-app-placement", "Scheduled")
    team.wait_for_snapshot("web-app-placement", "0")
    team.kubectl("set image deployment/web-app web-app=nginx:1.21 nginx=nginx:1.21", fails=True)
    # The document has the wrong name for the container: `kubectl create` names it after its image.
    team.kubectl("set image deployment/web-app nginx=nginx:1.21")
    team.wait_for_snapshot("web-app-placement", "1")
    team.apply(namespaced.HOW_TO_STRATEGY)
    assert images(team.fleet) == steps.NOWHERE


def start(team: Person, name: str, *, index: str) -> None:
    team.run(
        name,
        placement="web-app-placement",
        strategy="app-rollout-strategy",
        index=index,
        state="Run",
    )


def roll_out(team: Person) -> None:
    start(team, RUN, index="1")
    assert team.pending_approval(BEFORE) == {
        "NAME": BEFORE,
        "UPDATE-RUN": RUN,
        "STAGE": "prod-clusters",
        "APPROVED": "",
        "APPROVALACCEPTED": "",
    }
    assert "dev-clusters" in team.kubectl(f"describe sur {RUN}")
    assert images(team.fleet) == {"member1": "", "member2": "nginx:1.21", "member3": ""}
    team.approve(BEFORE, "approved to start prod")
    team.pending_approval(AFTER)
    assert images(team.fleet) == steps.everywhere("nginx:1.21")
    team.approve(AFTER, "prod rollout successful")
    team.wait_for_run(RUN, "Succeeded")
    placement = team.wait_for_placement("web-app-placement", "Available")
    assert placement["AVAILABLE"] == "True"
    check_members(team.fleet)


def check_members(fleet: Fleet) -> None:
    """Check that each member has the Deployment with its pods, and the Service with an address."""
    for member in steps.NOWHERE:
        deployment, service = (find(fleet, kind, member) for kind in (DEPLOYMENT, SERVICE))
        assert deployment is not None, member
        assert deployment["status"]["readyReplicas"] == 1, member
        assert service is not None, member
        assert service["spec"]["clusterIP"].startswith("10."), member


def roll_back(team: Person) -> None:
    back = "web-app-rollback-v1-20"
    start(team, back, index="0")
    team.pending_approval(f"{back}-before-prod-clusters")
    halfway = steps.everywhere("nginx:1.21") | {"member2": "nginx:1.20"}
    assert images(team.fleet) == halfway
    team.approve(f"{back}-before-prod-clusters", "approved to start prod")
    team.pending_approval(f"{back}-after-prod-clusters")
    team.approve(f"{back}-after-prod-clusters", "prod rollback successful")
    team.wait_for_run(back, "Succeeded")
    assert images(team.fleet) == steps.everywhere("nginx:1.20")


def is_refused_everywhere_else(team: Person) -> None:
    fleet = team.fleet
    refused = (
        "get sur -n default",
        "get resourceplacements --all-namespaces",
        "get approvalrequests -n default",
        "get csur",
        "get crp",
        "get clusterresourcebindings",
        "get works -n fleet-member-member1",
        "get memberclusters",
        "get secrets -n default",
        "delete crp my-app-namespace-placement",
        "create rolebinding mine -n default --clusterrole=fleetgate-rollout-editor --user=team",
    )
    for command in refused:
        assert "forbidden" in fleet.kubectl(f"{command} {team.login}", fails=True).lower(), command
    elsewhere = namespaced.WEB_APP_PLACEMENT.replace(NAMESPACE, "default")
    denied = fleet.kubectl(f"apply -f - {team.login}", stdin=elsewhere, fails=True)
    assert "forbidden" in denied


def cannot_write_what_controllers_write(team: Person) -> None:
    (binding, *_) = team.kubectl("get resourcebindings -o name").split()
    state = """--type=merge -p '{"spec":{"state":"Bound"}}'"""
    status = """--subresource=status --type=merge -p '{"status":{"conditions":[]}}'"""
    refused = (
        "delete resourcesnapshot web-app-placement-0-snapshot",
        f"patch {binding} {state}",
        f"patch {binding} {status}",
        f"patch resourceplacement web-app-placement {status}",
        "delete schedulingpolicysnapshots --all",
    )
    for command in refused:
        assert "forbidden" in team.kubectl(command, fails=True).lower(), command


ESCAPES: dict[str, Json] = {
    "binding": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": NAMESPACE}],
    },
    "namespace": {"apiVersion": "v1", "kind": "Namespace"},
}
"""Objects that would affect everyone on the members."""
CLUSTER_WIDE = {
    "binding": Kind(
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
        namespaced=False,
    ),
    "namespace": NAMESPACE_KIND,
}


@pytest.mark.parametrize("what", sorted(ESCAPES))
def test_a_team_cannot_escape_its_namespace_with_an_envelope(team: Person, what: str) -> None:
    wrapped = ESCAPES[what] | {"metadata": {"name": f"escape-{what}", "namespace": NAMESPACE}}
    meta = {"name": "escape", "namespace": NAMESPACE}
    envelope = RESOURCE_ENVELOPE
    team.apply(
        json.dumps(
            {
                "apiVersion": envelope.api_version,
                "kind": envelope.kind,
                "metadata": meta,
                "data": {"one": wrapped},
            }
        )
    )
    selector = {"group": envelope.group, "version": envelope.version, "kind": envelope.kind}
    spec = {
        "resourceSelectors": [selector | {"name": "escape"}],
        "policy": {"placementType": "PickAll"},
        "strategy": {"type": "RollingUpdate", "applyStrategy": {"whenToTakeOver": "Always"}},
    }
    kind = NAMESPACED_SCOPE.placement
    team.apply(
        json.dumps(
            {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        )
    )

    refused = "condition=ResourcePlacementWorkSynchronized=False"
    team.kubectl(f"wait resourceplacement escape --for={refused} --timeout=60s")
    told = team.kubectl("get resourceplacement escape -o json")
    assert f"a cluster scope object one ({NAMESPACE}/escape-{what}) has been wrapped in" in told
    for member in steps.NOWHERE:
        found = team.fleet.clients.find(CLUSTER_WIDE[what], f"escape-{what}", on=member)
        assert found is None, member
