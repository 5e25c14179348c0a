"""Doctor on a healthy installation, and on one for each thing that can be wrong."""

import asyncio
from collections.abc import AsyncIterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from api.base import format_time
from api.kinds import CUSTOM_RESOURCE_DEFINITION, LEASE, MEMBER_CLUSTER, Kind
from bridge import BridgeSettings
from deploy.installing import crds
from hub import Hub, Json
from tests.agent.credentials import grant, kubeconfig_of_nobody
from tests.starter.doctor.conftest import Doctor
from tests.support.conditions import condition
from tests.support.engine import running_engine
from tests.support.eventually import eventually
from tests.support.servers import PrivateApiServer
from tests.support.temporal import bare_namespace
from workflows.plugin import connect

_RBAC = "rbac.authorization.k8s.io"
ROLE = Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)
BINDING = Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)

BRIDGE = "ServiceAccount fleetgate/fleetgate-bridge"


@pytest.fixture
async def member(hub: Hub, unique: str) -> AsyncIterator[str]:
    """A healthy member that has just joined."""
    identity = {"kind": "User", "name": unique, "apiGroup": _RBAC}
    await hub.create(MEMBER_CLUSTER, {"metadata": {"name": unique}, "spec": {"identity": identity}})
    await beat(hub, unique)
    yield unique
    await hub.delete(MEMBER_CLUSTER, unique)


async def beat(hub: Hub, member: str, *, ahead: timedelta = timedelta(0)) -> None:
    """Report like the member's agent, with a clock that may be wrong."""
    now = datetime.now(UTC) + ahead
    conditions = [condition(kind, at=now) for kind in ("Joined", "Healthy")]
    agent = {
        "type": "MemberAgent",
        "conditions": conditions,
        "lastReceivedHeartbeat": format_time(now),
    }
    status = {"agentStatus": [agent], "conditions": conditions}
    await hub.patch(MEMBER_CLUSTER, member, {"status": status}, subresource="status")


async def lease(hub: Hub, part: str, *, renewed: timedelta = timedelta(0)) -> None:
    """Make pod-1 the leader of a role."""
    at = (datetime.now(UTC) - renewed).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "pod-1", "renewTime": at, "leaseDurationSeconds": 600}
    metadata = {"name": f"fleetgate-{part}", "namespace": "default"}
    await hub.apply(LEASE, {"metadata": metadata, "spec": spec})


@pytest.fixture
async def leaders(hub: Hub) -> AsyncIterator[None]:
    """Leaders of both roles that always need one."""
    for part in ("bridge", "placement"):
        await lease(hub, part)
    yield
    for part in ("bridge", "placement"):
        await hub.delete(LEASE, f"fleetgate-{part}", namespace="default")


@pytest.fixture
async def accounts(hub: Hub) -> None:
    """The ServiceAccounts and roles that ship."""
    await grant(hub, "hub-side.yaml")


@pytest.fixture
async def engine(hub: Hub, temporal_address: str, unique: str) -> AsyncIterator[str]:
    """Start a worker and provide its task queue."""
    temporal = await connect({"TEMPORAL_ADDRESS": temporal_address})
    async with running_engine(hub, temporal, settings=BridgeSettings(task_queue=unique)):
        yield unique


@pytest.mark.usefixtures("accounts", "leaders", "member")
async def test_a_healthy_installation_has_no_problems(doctor: Doctor, engine: str) -> None:
    found = await eventually(
        lambda: doctor("--task-queue", engine),
        lambda seen: seen.the_workers_poll and seen.code == 0,
    )
    # A dev server keeps histories for only a day, and the policies are optional.
    allowed = {"Temporal namespace", "admission policies"}
    assert [each for each in found.findings if each["verdict"] not in {"ok", "warning"}] == []
    warnings = [each for each in found.findings if each["verdict"] == "warning"]
    assert [each for each in warnings if each["check"] not in allowed] == []
    assert found.code == 0
    checks = {each["check"] for each in found.findings}
    assert {"API server", "clocks", "CRDs", "workers", "leaders", "members", "runs"} <= checks


async def test_a_hub_without_crds_is_a_problem(
    doctor: Doctor, private_api_server: PrivateApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(private_api_server.kubeconfig))
    found = await doctor()
    assert found.code == 1
    (kinds,) = found.of("CRDs")
    assert kinds["verdict"] == "problem"
    assert kinds["found"].startswith(f"{len(crds.definitions())} are not installed")
    assert kinds["commands"] == ["fleetgate crds --apply"]
    assert found.the("members") == ("unknown", "the hub does not serve this kind")


async def test_edited_crds_are_reported(
    doctor: Doctor, private_api_server: PrivateApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(private_api_server.kubeconfig))
    shipped = {each["metadata"]["name"]: each for each in crds.definitions()}
    older = deepcopy(shipped["memberclusters.cluster.kubernetes-fleet.io"])
    edited = deepcopy(shipped["works.placement.kubernetes-fleet.io"])
    del fields(older)["spec"]["properties"]["taints"]
    fields(edited)["spec"]["properties"]["note"] = {"type": "string"}
    async with await Hub.connect(private_api_server.kubeconfig) as hub:
        await asyncio.gather(
            *(hub.create(CUSTOM_RESOURCE_DEFINITION, each) for each in (older, edited))
        )
    found = await doctor()
    members = found.about("CRD memberclusters.cluster.kubernetes-fleet.io")
    expected = ("problem", "older, or edited: lacks spec.taints")
    assert (members["verdict"], members["found"]) == expected
    works = found.about("CRD works.placement.kubernetes-fleet.io")
    expected = ("warning", "newer, or edited: also has spec.note")
    assert (works["verdict"], works["found"]) == expected


def fields(definition: Json) -> Json:
    stored = next(each for each in definition["spec"]["versions"] if each["storage"])
    properties: Json = stored["schema"]["openAPIV3Schema"]["properties"]
    return properties


async def test_an_unreachable_hub_is_a_problem(
    doctor: Doctor, private_api_server: PrivateApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await private_api_server.kill()
    monkeypatch.setenv("KUBECONFIG", str(private_api_server.kubeconfig))
    found = await doctor()
    assert found.code == 1
    assert found.the("API server")[0] == "problem"
    assert {found.the(each)[0] for each in ("CRDs", "members", "runs")} == {"unknown"}
    assert found.the("Temporal")[0] == "ok"


async def test_an_unreachable_temporal_is_a_problem(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    found = await doctor()
    assert found.code == 1
    assert found.the("Temporal") == ("problem", "connection refused")
    for check in ("Temporal namespace", "search attributes", "workers"):
        assert found.the(check) == ("unknown", "Temporal cannot be reached")
    assert found.the("CRDs")[0] == "ok"


async def test_a_temporal_without_the_configured_tls_is_a_problem(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_TLS", "true")
    found = await doctor()
    assert found.the("Temporal")[0] == "problem"
    assert "TLS" in found.the("Temporal")[1]


async def test_a_temporal_with_an_untrusted_certificate_is_a_problem(
    doctor: Doctor, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An API server stands in for Temporal: it serves TLS, and the handshake is what fails."""
    monkeypatch.setenv("TEMPORAL_TLS", "true")
    monkeypatch.setenv("TEMPORAL_ADDRESS", hub.url.removeprefix("https://"))
    found = await doctor()
    (temporal,) = found.of("Temporal")
    assert temporal["verdict"] == "problem"
    assert "TEMPORAL_TLS_SERVER_CA_CERT_PATH" in temporal["found"] + temporal["advice"]


async def test_a_missing_temporal_namespace_is_a_problem(
    doctor: Doctor, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_NAMESPACE", unique)
    found = await doctor()
    assert found.code == 1
    (namespace,) = found.of("Temporal namespace")
    assert (namespace["verdict"], namespace["found"]) == ("problem", "does not exist")
    assert namespace["commands"] == ["fleetgate temporal setup --create-namespace"]


async def test_missing_and_wrong_search_attributes_are_reported(
    doctor: Doctor, temporal_address: str, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await bare_namespace(temporal_address, unique)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", unique)
    (missing,) = (await doctor()).of("search attributes")
    assert missing["verdict"] == "warning"
    assert "FleetgateStage" in missing["found"]
    assert missing["commands"] == ["fleetgate search-attributes"]

    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=unique,
            search_attributes={"FleetgateStage": IndexedValueType.INDEXED_VALUE_TYPE_INT},
        )
    )
    (wrong,) = (await doctor()).of("search attributes")
    expected = "registered with a type other than Keyword: FleetgateStage"
    assert (wrong["verdict"], wrong["found"]) == ("problem", expected)


async def test_a_task_queue_without_workers_is_a_problem(doctor: Doctor, unique: str) -> None:
    found = await doctor("--task-queue", unique)
    assert found.code == 1
    assert [each["verdict"] for each in found.of("workers")] == ["problem", "problem"]
    assert found.of("workers")[0]["found"] == "none are polling"


async def test_workers_of_a_version_that_gets_no_tasks_are_a_problem(
    doctor: Doctor, temporal_address: str, unique: str
) -> None:
    temporal = await connect({"TEMPORAL_ADDRESS": temporal_address})
    deployment = WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(unique, "build-2"),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )
    async with Worker(temporal, task_queue=unique, deployment_config=deployment):
        found = await eventually(
            lambda: doctor("--task-queue", unique),
            lambda seen: "build-2" in seen.of("workers")[0]["found"],
        )
    workers = found.of("workers")[0]
    assert workers["verdict"] == "problem"
    expected = "new tasks go to workers without a version, but the polling workers have build-2"
    assert workers["found"] == expected
    (command,) = workers["commands"]
    assert command.startswith("temporal worker deployment set-current-version")
    assert command.endswith(f"--deployment-name {unique} --build-id build-2")


async def test_a_user_without_rights_is_told_which_are_missing(
    doctor: Doctor,
    hub: Hub,
    hub_kubeconfig: Path,
    tmp_path: Path,
    unique: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody = await kubeconfig_of_nobody(hub, hub_kubeconfig, tmp_path, name=unique)
    monkeypatch.setenv("KUBECONFIG", str(nobody))
    found = await doctor("--task-queue", unique)
    assert found.code == 1  # no worker polls the task queue
    assert {each["verdict"] for each in found.of("your rights")} == {"warning"}
    missing = "memberclusters.cluster.kubernetes-fleet.io"
    assert found.the("members") == ("unknown", f"you lack the right to list {missing}")
    verdict, kinds = found.the("CRDs")
    assert verdict == "unknown"
    assert kinds.startswith(f"all {len(crds.definitions())} are served; cannot tell if they match")
    expected = "you lack the right to get serviceaccounts in namespace fleetgate"
    assert found.the("rights of the processes") == ("unknown", expected)


@pytest.mark.usefixtures("accounts")
async def test_a_process_that_lacks_a_right_is_a_problem(doctor: Doctor, hub: Hub) -> None:
    role = await hub.get(ROLE, "fleetgate-bridge")
    rules = [each for each in role["rules"] if "events" not in each["resources"]]
    await hub.patch(ROLE, "fleetgate-bridge", {"rules": rules})
    # The API server takes a moment to notice a change of rights.
    expected = "lacks rights of its roles: fleetgate-bridge (create events)"
    seen = await eventually(doctor, lambda seen: seen.about(BRIDGE)["found"] == expected)
    found = seen.about(BRIDGE)
    assert found["verdict"] == "problem"
    assert found["commands"] == ["kubectl apply -f deploy/rbac/hub-side.yaml"]


@pytest.mark.usefixtures("accounts")
async def test_a_process_with_all_rights_is_a_warning(
    doctor: Doctor, hub: Hub, unique: str
) -> None:
    account = {"kind": "ServiceAccount", "name": "fleetgate-bridge", "namespace": "fleetgate"}
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    body = {"metadata": {"name": unique}, "roleRef": role, "subjects": [account]}
    await hub.create(BINDING, body)
    try:
        seen = await eventually(
            doctor, lambda seen: "like an administrator" in seen.about(BRIDGE)["found"]
        )
    finally:
        await hub.delete(BINDING, unique)
    assert seen.about(BRIDGE)["verdict"] == "warning"


async def test_a_member_without_a_heartbeat_is_a_problem(
    doctor: Doctor, hub: Hub, member: str
) -> None:
    await hub.patch(MEMBER_CLUSTER, member, {"status": {"agentStatus": []}}, subresource="status")
    found = (await doctor()).about(f"member {member}")
    assert found["verdict"] == "problem"
    assert "nothing can be placed on it" in found["found"]


@pytest.mark.parametrize(
    ("ahead", "verdict", "word"),
    [
        (timedelta(minutes=2), "warning", "ahead of"),
        (timedelta(minutes=20), "problem", "ahead of"),
        (timedelta(minutes=-2), "warning", "behind"),
    ],
)
async def test_a_member_with_a_wrong_clock_is_reported(
    doctor: Doctor, hub: Hub, member: str, ahead: timedelta, verdict: str, word: str
) -> None:
    await beat(hub, member, ahead=ahead)
    found = (await doctor()).about(f"member {member}")
    assert found["verdict"] == verdict
    assert word in found["found"]


@pytest.mark.usefixtures("leaders")
async def test_a_leader_that_no_longer_renews_its_lease_is_a_problem(
    doctor: Doctor, hub: Hub
) -> None:
    await lease(hub, "bridge", renewed=timedelta(hours=1))
    found = await doctor()
    bridge, placement = found.about("leader of bridge"), found.about("leader of placement")
    assert (bridge["verdict"], placement["verdict"]) == ("problem", "ok")
    assert "pod-1 was the last" in bridge["found"]


async def test_unreachable_metrics_of_a_worker_are_a_problem(doctor: Doctor) -> None:
    found = await doctor("--metrics", "127.0.0.1:1")
    assert found.the("metrics")[0] == "problem"
