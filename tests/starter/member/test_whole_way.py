"""A cluster joins a hub with built-in placement, its agent reports, and it leaves again.

The person has only the shipped rights on the hub, and each agent only what joining gave it.
"""

import signal
from asyncio import to_thread
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent import AgentPool, MemberSecrets
from api.kinds import CLUSTER_SCOPE, MEMBER_CLUSTER, NAMESPACE, SECRET, SERVICE_ACCOUNT, WORK, Kind
from deploy.joining import (
    ACCOUNTS,
    AGENT,
    AGENT_NAMESPACE,
    HUB_SECRET,
    MEMBER_SECRETS,
    on_member,
)
from deploy.local import ports
from hub import Forbidden, Hub
from placement.built_in import BuiltInPlacement
from tests.agent.credentials import grant, of_account
from tests.deploy.helm.processes import process
from tests.rights.people import RBAC, bind, kubeconfig_of
from tests.starter.typed import Fleetgate
from tests.support.eventually import patience
from tests.support.programs import HELM, here
from tests.support.running import running
from tests.support.servers import Servers

pytestmark = [
    pytest.mark.xdist_group("joining"),
    pytest.mark.alone("they join one cluster in turn"),
]

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)
ROLE_BINDING = Kind(RBAC, "v1", "RoleBinding", "rolebindings", namespaced=True)
PERSON = "jane"
ROLE = "fleetgate-member-admin"


@pytest.fixture(scope="module")
async def placed_kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of a hub where placement reacts to every member."""
    async with servers.own_cluster("joined") as kubeconfig:
        yield kubeconfig


@pytest.fixture(scope="module")
async def placed(placed_kubeconfig: Path) -> AsyncIterator[Hub]:
    """That hub, with the shipped rights for people and workers, and with placement."""
    async with await Hub.connect(placed_kubeconfig, manager="test") as hub:
        await hub.create(NAMESPACE, {"metadata": {"name": AGENT_NAMESPACE}})
        await grant(hub, "member-admins.yaml")
        await grant(hub, "agents-on-hub.yaml")
        for namespace in (ACCOUNTS, MEMBER_SECRETS):
            body = {
                "metadata": {"name": PERSON, "namespace": namespace},
                "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": ROLE},
                "subjects": [{"kind": "User", "name": PERSON, "apiGroup": RBAC}],
            }
            await hub.apply(ROLE_BINDING, body)
        await bind(hub, PERSON, ROLE)
        async with running(BuiltInPlacement(hub)):
            yield hub


@pytest.fixture
async def persons(placed: Hub, placed_kubeconfig: Path, tmp_path: Path) -> Path:
    """Kubeconfig of a person who may join members, and nothing else."""
    del placed
    return kubeconfig_of(PERSON, admin=placed_kubeconfig, folder=tmp_path)


@pytest.fixture
def helm_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = here(HELM)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "helm").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")


@pytest.mark.usefixtures("helm_on_path")
async def test_a_member_with_an_agent_joins_and_leaves(
    fleetgate: Fleetgate,
    placed: Hub,
    persons: Path,
    joining_cluster: Hub,
    joining_kubeconfig: Path,
    tmp_path: Path,
    unique: str,
) -> None:
    where = ("--kubeconfig", str(persons), "--member-kubeconfig", str(joining_kubeconfig))
    image = ("--set", "image.repository=example/fleetgate")
    port = ("--set", f"metrics.port={ports.choose()}")

    installed = await fleetgate(
        "member", "join", unique, *where, "--install", "--no-wait", *image, *port
    )
    assert installed.code == 0, installed.err
    deployment = await joining_cluster.get(DEPLOYMENT, AGENT, namespace=AGENT_NAMESPACE)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    secret = await joining_cluster.get(SECRET, HUB_SECRET, namespace=AGENT_NAMESPACE)
    await to_thread(mount, tmp_path / "hub" / "kubeconfig", secret["data"]["kubeconfig"])
    own = await of_account(
        joining_kubeconfig, joining_cluster, AGENT, namespace=AGENT_NAMESPACE, folder=tmp_path
    )
    log = tmp_path / "agent.log"
    with process(container, own, log, mounts=tmp_path) as agent:
        joined = await fleetgate("member", "join", unique, *where, *image)
        left = await fleetgate("member", "leave", unique, *where, "--uninstall")
        agent.send_signal(signal.SIGTERM)
        assert await to_thread(agent.wait, patience()) == 0

    assert (joined.code, left.code) == (0, 0), joined.err + left.err
    assert f"{unique} has joined (Kubernetes v1." in joined.err
    assert await placed.find(MEMBER_CLUSTER, unique) is None
    assert await placed.find(SERVICE_ACCOUNT, unique, namespace=ACCOUNTS) is None
    assert await joining_cluster.find(DEPLOYMENT, AGENT, namespace=AGENT_NAMESPACE) is None


async def test_a_member_without_an_agent_joins_through_a_worker(
    fleetgate: Fleetgate,
    placed: Hub,
    persons: Path,
    placed_kubeconfig: Path,
    joining_cluster: Hub,
    joining_kubeconfig: Path,
    tmp_path: Path,
    unique: str,
) -> None:
    where = ("--kubeconfig", str(persons), "--member-kubeconfig", str(joining_kubeconfig))
    workers = await of_account(
        placed_kubeconfig, placed, "fleetgate-agents", namespace="fleetgate", folder=tmp_path
    )
    async with await Hub.connect(workers) as hub:
        pool = AgentPool(hub)
        async with running(pool), running(MemberSecrets(hub, pool, namespace=MEMBER_SECRETS)):
            # The member's cluster has no controller that puts a token into a Secret.
            joined = await fleetgate(
                "member", "join", unique, *where, "--by-secret", "--token-duration", "24h"
            )

    assert joined.code == 0, joined.err
    assert f"{unique} has joined" in joined.err
    await on_member.clear(joining_cluster, unique, say=lambda _: None)


async def test_a_member_admin_can_do_nothing_else(placed: Hub, persons: Path, unique: str) -> None:
    """Compare with `tests/rights/test_roles.py`."""
    await placed.create(NAMESPACE, {"metadata": {"name": unique}})
    spec = {"placementName": "p", "stagedRolloutStrategyName": "s"}
    async with await Hub.connect(persons) as person:
        attempts = [
            person.list(SECRET),
            person.list(SECRET, namespace=unique),
            person.list(WORK),
            person.list(CLUSTER_SCOPE.resource_snapshot),
            person.create(CLUSTER_SCOPE.run, {"metadata": {"name": unique}, "spec": spec}),
            person.patch(MEMBER_CLUSTER, unique, {"status": {}}, subresource="status"),
            person.create(NAMESPACE, {"metadata": {"name": f"{unique}-2"}}),
        ]
        for attempt in attempts:
            with pytest.raises(Forbidden):
                await attempt


def mount(file: Path, data: str) -> None:
    file.parent.mkdir()
    file.write_bytes(b64decode(data))
