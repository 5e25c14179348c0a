"""`fleetgate member join` on real API servers, where nothing reacts to what it creates."""

import shlex
from base64 import b64decode
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from api.kinds import MEMBER_CLUSTER, NAMESPACE, SECRET, SERVICE_ACCOUNT
from api.names import MEMBER_KUBECONFIG, member_namespace
from deploy.joining import ACCOUNTS, AGENT_NAMESPACE, HUB_SECRET, MEMBER_SECRETS
from hub import Hub, Json
from starter.people import user_of
from tests.agent.credentials import ON_HUB, grant
from tests.starter.member.conftest import Member, admins_token

pytestmark = [
    pytest.mark.xdist_group("joining"),
    pytest.mark.alone("they join one cluster in turn"),
]

IMAGE = ("--set", "image.repository=example/fleetgate")
JOIN = ("--context", "joining", "--no-wait", *IMAGE)


async def agents_kubeconfig(cluster: Hub) -> str:
    """The kubeconfig that joining gives to the agent in the member."""
    secret = await cluster.get(SECRET, HUB_SECRET, namespace=AGENT_NAMESPACE)
    return b64decode(secret["data"]["kubeconfig"]).decode()


async def registered(hub: Hub, name: str, **identity: str) -> Json:
    """A MemberCluster that someone else created."""
    spec = {"identity": {"kind": "User", "name": f"{name}-agent"} | identity}
    return await hub.create(MEMBER_CLUSTER, {"metadata": {"name": name}, "spec": spec})


async def test_join_registers_the_member_and_prints_the_helm_command(
    member: Member, hub: Hub, both: Path, unique: str
) -> None:
    done = await member("join", unique, *JOIN, "--label", "environment=prod", "--set", "a.b=c d")

    assert done.code == 0, done.err
    found = await hub.get(MEMBER_CLUSTER, unique)
    assert found["metadata"]["labels"] == {"environment": "prod"}
    assert found["spec"]["identity"] == {
        "kind": "ServiceAccount",
        "name": unique,
        "namespace": "fleetgate-agents",
    }
    typed = shlex.split(done.out)
    assert typed[:4] == ["helm", "upgrade", "--install", "fleetgate-agent"]
    settings = [word for option, word in pairwise(typed) if option == "--set"]
    assert settings == [
        f"member={unique}",
        "hub.kubeconfigSecret.name=fleetgate-hub",
        "image.repository=example/fleetgate",
        "a.b=c d",
    ]
    assert typed[typed.index("--kube-context") + 1] == "joining"
    assert typed[typed.index("--kubeconfig") + 1] == str(both)


async def test_the_agent_gets_only_the_token_of_its_own_account(
    member: Member, joining_cluster: Hub, hub_kubeconfig: Path, unique: str
) -> None:
    assert (await member("join", unique, *JOIN)).code == 0

    text = await agents_kubeconfig(joining_cluster)
    (user,) = yaml.safe_load(text)["users"]
    assert user["user"].keys() == {"token"}
    assert admins_token(hub_kubeconfig) not in text
    async with await Hub.connect_as_told(text) as agent:
        assert await user_of(agent) == f"system:serviceaccount:{ACCOUNTS}:{unique}"


async def test_a_token_can_be_limited_in_time(
    member: Member, hub: Hub, joining_cluster: Hub, unique: str
) -> None:
    done = await member("join", unique, *JOIN, "--token-duration", "24h")

    assert "the agent's token expires at " in done.err
    assert await hub.find(SECRET, f"{unique}-token", namespace=ACCOUNTS) is None
    async with await Hub.connect_as_told(await agents_kubeconfig(joining_cluster)) as agent:
        assert await user_of(agent) == f"system:serviceaccount:{ACCOUNTS}:{unique}"


async def test_after_a_failure_join_continues_with_the_same_account(
    member: Member, joining_cluster: Hub, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without_helm:
        without_helm.setenv("PATH", "")
        failed = await member("join", unique, *JOIN, "--install")
    assert failed.code == 1
    assert "helm is not on the PATH: install it, or run this where it is:\nhelm up" in failed.err
    given = await agents_kubeconfig(joining_cluster)
    await joining_cluster.delete(SECRET, HUB_SECRET, namespace=AGENT_NAMESPACE)

    again = await member("join", unique, *JOIN)

    assert again.code == 0, again.err
    assert again.out.startswith("helm upgrade --install")
    assert await agents_kubeconfig(joining_cluster) == given


async def test_a_second_join_changes_only_the_labels_that_it_is_given(
    member: Member, hub: Hub, unique: str
) -> None:
    await member("join", unique, *JOIN, "--label", "a=1", "--label", "b=1")

    again = await member("join", unique, *JOIN, "--label", "b=2")

    assert "exists already: label b: 1 → 2" in again.err
    assert (await hub.get(MEMBER_CLUSTER, unique))["metadata"]["labels"] == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        pytest.param((), 2, "name the member cluster: --context", id="none"),
        pytest.param(
            ("--context", "none", *IMAGE),
            2,
            "has no context 'none' (it has: hub, joining)",
            id="unknown",
        ),
        pytest.param(("--context", "hub", *IMAGE), 1, "is the hub itself", id="hub"),
        pytest.param(
            ("--context", "joining"), 2, "name the agent's image with --set image", id="image"
        ),
        pytest.param(
            ("--context", "joining", "--label", "prod"), 2, "'prod' is not KEY=VALUE", id="label"
        ),
        pytest.param(
            ("--context", "joining", "--member-server", "https://a"),
            2,
            "--member-server needs --by-secret",
            id="server",
        ),
    ],
)
async def test_a_wrong_context_or_option_creates_nothing(
    typed: tuple[str, ...], code: int, said: str, member: Member, hub: Hub, unique: str
) -> None:
    done = await member("join", unique, *typed)

    assert (done.code, said in done.err) == (code, True), done.err
    assert await hub.find(MEMBER_CLUSTER, unique) is None
    assert await hub.find(SERVICE_ACCOUNT, unique, namespace=ACCOUNTS) is None


async def test_a_name_taken_by_another_identity_is_refused_unless_taken_over(
    member: Member, hub: Hub, unique: str
) -> None:
    before = await registered(hub, unique, apiGroup="rbac.authorization.k8s.io")

    refused = await member("join", unique, *JOIN)

    assert refused.code == 1
    assert f"exists, and its agent is User {unique}-agent: choose another name" in refused.err
    assert await hub.get(MEMBER_CLUSTER, unique) == before
    taken = await member("join", unique, *JOIN, "--take-over")
    assert f"identity: User {unique}-agent → ServiceAccount {ACCOUNTS}/{unique}" in taken.err
    assert (await hub.get(MEMBER_CLUSTER, unique))["spec"]["identity"] == {
        "kind": "ServiceAccount",
        "name": unique,
        "namespace": ACCOUNTS,
    }


async def test_a_cluster_cannot_join_under_two_names_by_mistake(
    member: Member, hub: Hub, unique: str
) -> None:
    assert (await member("join", unique, *JOIN)).code == 0

    refused = await member("join", f"{unique}-2", *JOIN)

    assert refused.code == 1
    assert f"has joined as {unique}: choose another context" in refused.err
    assert await hub.find(MEMBER_CLUSTER, f"{unique}-2") is None


async def test_a_member_without_agent_is_joined_with_an_account_of_its_own(
    member: Member, hub: Hub, joining_kubeconfig: Path, unique: str
) -> None:
    # This cluster runs no controllers, which would put a token into a Secret.
    done = await member("join", unique, *JOIN, "--by-secret", "--token-duration", "24h")

    assert done.code == 0, done.err
    assert done.out == ""
    secret = await hub.get(SECRET, unique, namespace=MEMBER_SECRETS)
    assert secret["metadata"]["labels"][MEMBER_KUBECONFIG] == unique
    text = b64decode(secret["data"]["kubeconfig"]).decode()
    assert admins_token(joining_kubeconfig) not in text
    async with await Hub.connect_as_told(text) as agent:
        assert await user_of(agent) == f"system:serviceaccount:{AGENT_NAMESPACE}:fleetgate-agent"
        await agent.list(SECRET)  # what it places may be of any kind


async def test_a_secret_of_someone_else_is_not_overwritten(
    member: Member, hub: Hub, unique: str
) -> None:
    if await hub.find(NAMESPACE, MEMBER_SECRETS) is None:
        await hub.create(NAMESPACE, {"metadata": {"name": MEMBER_SECRETS}})
    body = {"metadata": {"name": unique, "namespace": MEMBER_SECRETS}, "data": {}}
    before = await hub.create(SECRET, body)
    by_secret = (*JOIN, "--by-secret", "--token-duration", "24h")

    refused = await member("join", unique, *by_secret)

    assert refused.code == 1
    assert f"secret/{unique} in namespace fleet-members exists and was not created" in refused.err
    assert await hub.get(SECRET, unique, namespace=MEMBER_SECRETS) == before
    assert (await member("join", unique, *by_secret, "--take-over")).code == 0


async def test_join_tells_what_is_missing_if_the_member_does_not_join(
    member: Member, hub: Hub, unique: str
) -> None:
    soon = ("--context", "joining", "--timeout", "100ms", *IMAGE)

    done = await member("join", unique, *soon)
    assert done.code == 1
    assert f"has not joined after 100ms: the hub has no namespace {member_namespace(unique)}" in (
        done.err
    )
    await hub.create(NAMESPACE, {"metadata": {"name": member_namespace(unique)}})
    done = await member("join", unique, *soon)
    assert "its agent lacks rights on the hub: " in done.err
    await grant(hub, ON_HUB, member=unique)
    done = await member("join", unique, *soon)
    assert "has not joined after 100ms: its agent has not reported" in done.err
    assert "kubectl logs -n fleetgate deployment/fleetgate-agent --context joining" in done.err
    done = await member("join", unique, *soon, "--hub-server", "https://127.0.0.1:1")
    assert "the hub does not answer at https://127.0.0.1:1" in done.err
    assert "join again with --hub-server" in done.err


async def test_an_address_that_only_works_from_here_is_pointed_out(
    member: Member, unique: str
) -> None:
    done = await member("join", unique, *JOIN)
    assert "leads to the hub only from this machine" in done.err
    assert "give the hub's address with --hub-server" in done.err
