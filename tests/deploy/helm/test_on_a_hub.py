"""A real API server accepts the charts' objects, and the processes need nothing else."""

import asyncio
import base64
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from api.kinds import (
    CLUSTER_STAGED_UPDATE_RUN,
    CUSTOM_RESOURCE_DEFINITION,
    MEMBER_CLUSTER,
    NAMESPACE,
    Kind,
)
from api.names import MEMBER_NAMESPACE_PREFIX
from deploy.installing import crds
from deploy.local import ports
from hub import Hub
from tests.agent.credentials import ON_HUB, grant, of_account, token
from tests.deploy.helm.charts import HUB_SIDE, IMAGE, MEMBER_SIDE, Helm, Json, Objects, merged
from tests.deploy.helm.charts import NAMESPACE as RELEASED
from tests.deploy.helm.processes import MOUNTED, command, environment, process
from tests.deploy.helm.test_hub_side import VALUES
from tests.deploy.helm.test_member_side import BY_TOKEN
from tests.support.eventually import eventually, patience
from tests.support.servers import Servers

pytestmark = [
    pytest.mark.xdist_group("charts"),
    pytest.mark.alone("they install the charts in turn"),
]

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)
POD = Kind("", "v1", "Pod", "pods", namespaced=True)
MEMBERS = "fleet-members"
OF_PROMETHEUS = {"ServiceMonitor": "servicemonitors", "PrometheusRule": "prometheusrules"}
EVERYTHING: dict[str, tuple[Path, Json]] = {
    **{f"hub side {name}": (HUB_SIDE, values) for name, values in VALUES.items()},
    "member side by kubeconfig": (MEMBER_SIDE, {}),
    "member side by token": (MEMBER_SIDE, BY_TOKEN),
}


def of_prometheus(kind: str, plural: str) -> Json:
    """A CRD that accepts anything, in place of the operator's."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": anything},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.monitoring.coreos.com"},
        "spec": {
            "group": "monitoring.coreos.com",
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


@pytest.fixture(scope="module")
async def kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of a cluster that is both hub and member, for these tests only."""
    async with servers.own_cluster("charts") as found:
        yield found


@pytest.fixture(scope="module")
async def admin(kubeconfig: Path) -> AsyncIterator[Hub]:
    async with await Hub.connect(kubeconfig, manager="kubectl") as hub:
        # The API server itself rejects pods with more privileges than they need.
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        await hub.create(NAMESPACE, {"metadata": {"name": RELEASED, "labels": labels}})
        await hub.create(NAMESPACE, {"metadata": {"name": MEMBERS}})
        await crds.install(hub, [of_prometheus(*each) for each in OF_PROMETHEUS.items()])
        yield hub


@pytest.mark.parametrize("what", EVERYTHING)
@pytest.mark.usefixtures("admin")
def test_an_api_server_accepts_every_object(
    what: str, helm: Helm, kubeconfig: Path, tmp_path: Path
) -> None:
    chart, values = EVERYTHING[what]
    objects = helm.render(chart, values).all
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    # Force conflicts, because another test may have left objects here.
    apply = ("apply", "--server-side", "--force-conflicts", "--dry-run=server")
    told = kubectl(kubeconfig, *apply, "-f", file)
    assert told.count("(server dry run)") == len(objects)
    assert "Warning" not in told


def kubectl(kubeconfig: Path, *words: object) -> str:
    """Run kubectl, which must succeed, and return its output."""
    typed = ["kubectl", "--kubeconfig", str(kubeconfig), *map(str, words)]
    done = subprocess.run(typed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def values(temporal_address: str, unique: str) -> Json:
    """Values for pods that run as local processes."""
    return {
        "image": IMAGE,
        "temporal": {"address": temporal_address},
        "settings": {"taskQueue": unique},
        "metrics": {"port": ports.choose()},
    }


async def test_a_release_is_installed_upgraded_and_removed_and_runs_stay(
    helm: Helm, admin: Hub, kubeconfig: Path, values: Json, unique: str
) -> None:
    # No pods run here that could execute the Jobs; another test below runs their commands.
    chart = (HUB_SIDE, "--kubeconfig", kubeconfig, "--no-hooks")
    helm.run("install", "fleetgate", *chart, "--take-ownership", values=values)
    assert await deployed(admin) == {"fleetgate-engine", "fleetgate-bridge", "fleetgate-placement"}

    async def pods() -> int:
        return len((await admin.list(POD, namespace=RELEASED)).items)

    await eventually(pods, lambda found: found == 6)

    spec = {"placementName": unique, "stagedRolloutStrategyName": unique}
    await admin.create(CLUSTER_STAGED_UPDATE_RUN, {"metadata": {"name": unique}, "spec": spec})
    together = merged(values, {"processes": "together"})
    helm.run("upgrade", "fleetgate", *chart, values=together)
    assert await deployed(admin) == {"fleetgate-worker"}
    helm.run("rollback", "fleetgate", "--kubeconfig", kubeconfig, "--no-hooks")
    assert "fleetgate-engine" in await deployed(admin)

    helm.run("uninstall", "fleetgate", "--kubeconfig", kubeconfig)
    assert await deployed(admin) == set()
    assert await admin.find(CLUSTER_STAGED_UPDATE_RUN, unique)
    await admin.delete(CLUSTER_STAGED_UPDATE_RUN, unique)


async def deployed(admin: Hub) -> set[str]:
    found = await admin.list(DEPLOYMENT, namespace=RELEASED)
    return {each["metadata"]["name"] for each in found.items}


async def apply(admin: Hub, objects: Objects, *kinds: str) -> None:
    """Apply the objects of these kinds."""
    for kind in kinds:
        for body in objects.of(kind).values():
            known = await admin.kind_for(body["apiVersion"], kind)
            assert known is not None
            await admin.apply(known, body, manager="helm")


RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")


async def test_each_process_becomes_ready_with_the_command_and_the_rights_of_its_pod(
    helm: Helm, admin: Hub, kubeconfig: Path, values: Json, tmp_path: Path
) -> None:
    objects = helm.render(HUB_SIDE, merged(values, {"settings": {"memberSecrets": MEMBERS}}))
    await apply(admin, objects, *RIGHTS)
    url = f"http://127.0.0.1:{values['metrics']['port']}/readyz"
    for deployment in objects.deployments():
        pod = deployment["spec"]["template"]["spec"]
        account = pod["serviceAccountName"]
        own = await of_account(kubeconfig, admin, account, namespace=RELEASED, folder=tmp_path)
        log = tmp_path / f"{account}.log"
        with process(pod["containers"][0], own, log) as running:
            await eventually(lambda: status(url), lambda found: found == 200)
            running.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(running.wait, patience()) == 0, log.read_text()
        assert "orbidden" not in log.read_text()


async def status(url: str) -> int:
    try:
        async with aiohttp.ClientSession() as http, http.get(url) as found:
            return found.status
    except aiohttp.ClientConnectorError:
        return 0


async def test_the_rights_of_the_jobs_are_sufficient(
    helm: Helm, admin: Hub, kubeconfig: Path, values: Json, tmp_path: Path
) -> None:
    objects = helm.render(HUB_SIDE, values)
    await apply(admin, objects, *RIGHTS)
    pods = {name: job["spec"]["template"]["spec"] for name, job in objects.of("Job").items()}
    account = pods["fleetgate-crds"]["serviceAccountName"]
    own = await of_account(kubeconfig, admin, account, namespace=RELEASED, folder=tmp_path)
    for name, pod in pods.items():
        (container,) = pod["containers"]
        done = await asyncio.to_thread(
            subprocess.run,
            command(container),
            env=environment(container, own if name == "fleetgate-crds" else Path("/nowhere")),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if name == "fleetgate-crds":
            count = len((await admin.list(CUSTOM_RESOURCE_DEFINITION)).items)
            assert f"{count - len(OF_PROMETHEUS)} CRDs are served" in done.stdout


async def test_an_agent_joins_with_the_command_and_the_rights_of_its_pod(
    helm: Helm, admin: Hub, kubeconfig: Path, unique: str, tmp_path: Path
) -> None:
    await register(admin, unique)
    values: Json = {"member": unique, "hub": way(kubeconfig), "metrics": {"port": ports.choose()}}
    objects = helm.render(MEMBER_SIDE, merged(BY_TOKEN, values))
    await apply(admin, objects, *RIGHTS)
    given = objects.one("ConfigMap", "fleetgate-agent-hub")["data"]["kubeconfig"]
    mount(tmp_path / "hub" / "kubeconfig", given.replace(MOUNTED, str(tmp_path)))
    mount(
        tmp_path / "token" / "token",
        await token(admin, unique, namespace=identity(unique)["namespace"]),
    )
    account = "fleetgate-agent"
    own = await of_account(kubeconfig, admin, account, namespace=RELEASED, folder=tmp_path)
    ((_, container, _),) = objects.containers()

    async def joined() -> bool:
        member = await admin.get(MEMBER_CLUSTER, unique)
        reported = member.get("status", {}).get("agentStatus", [])
        conditions = [each for agent in reported for each in agent.get("conditions", [])]
        return any(each["type"] == "Joined" and each["status"] == "True" for each in conditions)

    log = tmp_path / "agent.log"
    with process(container, own, log, mounts=tmp_path) as running:
        await eventually(joined)
        assert running.poll() is None, log.read_text()
        running.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(running.wait, patience()) == 0, log.read_text()
    assert "orbidden" not in log.read_text()


def identity(member: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": member, "namespace": "fleetgate-agents"}


async def register(admin: Hub, member: str) -> None:
    """Do what an administrator and the placement do for a new member."""
    spec = {"identity": identity(member)}
    await admin.create(MEMBER_CLUSTER, {"metadata": {"name": member}, "spec": spec})
    await admin.create(NAMESPACE, {"metadata": {"name": f"{MEMBER_NAMESPACE_PREFIX}{member}"}})
    await grant(admin, ON_HUB, member=member)


def way(kubeconfig: Path) -> Json:
    """Values with which an agent reaches the hub of a kubeconfig."""
    hub = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = base64.b64decode(hub["certificate-authority-data"]).decode()
    return {"server": hub["server"], "certificateAuthority": authority}


def mount(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)


@pytest.mark.usefixtures("admin")
def test_objects_of_a_template_are_applied_with_all_admission_policies(
    helm: Helm, kubeconfig: Path, values: Json, tmp_path: Path
) -> None:
    policies = {"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"}
    rendered = helm.render(HUB_SIDE, merged(values, {"people": {"names": "v1beta1"}})).all
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump_all(rendered))
    kubectl(kubeconfig, "apply", "-f", file)
    wanted = {(e["kind"], e["metadata"]["name"]) for e in rendered if e["kind"] in policies}
    assert {kind for kind, _ in wanted} == policies
    told = kubectl(kubeconfig, "get", ",".join(policies), "-o", "json")
    assert {(e["kind"], e["metadata"]["name"]) for e in json.loads(told)["items"]} >= wanted
