"""Credentials that change on disk are used from the next connection on, without a restart."""

import logging
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.kinds import Kind
from deploy.local.keys import new_certificate
from deploy.local.ports import LOOPBACK
from hub import Hub, HubError
from tests.agent.credentials import token
from tests.support.eventually import eventually
from tests.support.guarded_temporal import Authority, Pair
from tests.support.limits import PATIENT
from tests.support.servers import PrivateApiServer, Servers

SELF_SUBJECT_REVIEW = Kind(
    "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False
)
ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts", namespaced=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Create the authority that signs client certificates."""
    return Authority(tmp_path_factory.mktemp("clients"), "clients")


@pytest.fixture(scope="module")
async def server(servers: Servers, authority: Authority) -> AsyncIterator[PrivateApiServer]:
    started = await servers.started_api_server(f"--client-ca-file={authority.path}")
    yield started
    await started.kill()


@pytest.fixture
def kubeconfig(server: PrivateApiServer, tmp_path: Path) -> Path:
    """Copy the server's own kubeconfig, with the authority in a file next to it."""
    (tmp_path / "ca.crt").write_bytes(server.authority.read_bytes())
    return tmp_path / "kubeconfig"


def write(
    kubeconfig: Path, server: PrivateApiServer, user: dict[str, Any], *, url: str = ""
) -> None:
    content = yaml.safe_load(server.kubeconfig.read_text())
    content["users"][0]["user"] = user
    cluster = {"server": url or server.url, "certificate-authority": "ca.crt"}
    content["clusters"][0]["cluster"] = cluster
    kubeconfig.write_text(yaml.safe_dump(content))


def choose_another_context(kubeconfig: Path, user: dict[str, Any]) -> None:
    """Make another context the current one, and give the user of the first new credentials."""
    content = yaml.safe_load(kubeconfig.read_text())
    content["contexts"].append({"name": "other", "context": {"cluster": "other"}})
    content["clusters"].append({"name": "other", "cluster": {"server": "https://127.0.0.1:1"}})
    content["current-context"] = "other"
    content["users"][0]["user"] = user
    kubeconfig.write_text(yaml.safe_dump(content))


def copied(pair: Pair, folder: Path) -> dict[str, Any]:
    """Copy certificate and key to files that always have the same names."""
    (folder / "tls.crt").write_bytes(pair.certificate.read_bytes())
    (folder / "tls.key").write_bytes(pair.key.read_bytes())
    return {"client-certificate": "tls.crt", "client-key": "tls.key"}


def inline(pair: Pair) -> dict[str, Any]:
    return {
        "client-certificate-data": b64encode(pair.certificate.read_bytes()).decode(),
        "client-key-data": b64encode(pair.key.read_bytes()).decode(),
    }


async def who(hub: Hub) -> str:
    """Return the user name that the API server sees; empty if it rejects the client."""
    try:
        answer = await hub.create(SELF_SUBJECT_REVIEW, {"metadata": {}})
    except HubError:
        return ""
    name: str = answer["status"]["userInfo"]["username"]
    return name


async def becomes(hub: Hub, name: str) -> None:
    await eventually(lambda: who(hub), lambda seen: seen == name)


async def test_a_new_client_certificate_in_files_is_used(
    server: PrivateApiServer, kubeconfig: Path, authority: Authority
) -> None:
    write(kubeconfig, server, copied(authority.issue("file-before"), kubeconfig.parent))
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, "file-before")
        copied(authority.issue("file-after"), kubeconfig.parent)
        await becomes(hub, "file-after")


async def test_a_mounted_secret_that_is_replaced_through_its_link_is_used(
    server: PrivateApiServer, kubeconfig: Path, authority: Authority
) -> None:
    link = kubeconfig.parent / "..data"
    for name in ("link-before", "link-after"):
        (kubeconfig.parent / name).mkdir()
        copied(authority.issue(name), kubeconfig.parent / name)
    link.symlink_to("link-before")
    for file in ("tls.crt", "tls.key"):
        (kubeconfig.parent / file).symlink_to(f"..data/{file}")
    write(kubeconfig, server, {"client-certificate": "tls.crt", "client-key": "tls.key"})
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, "link-before")
        (kubeconfig.parent / "..new").symlink_to("link-after")
        (kubeconfig.parent / "..new").rename(link)
        await becomes(hub, "link-after")


async def test_a_new_certificate_in_the_kubeconfig_itself_is_used(
    server: PrivateApiServer, kubeconfig: Path, authority: Authority
) -> None:
    write(kubeconfig, server, inline(authority.issue("inline-before")))
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, "inline-before")
        write(kubeconfig, server, inline(authority.issue("inline-after")))
        await becomes(hub, "inline-after")


@pytest.fixture(params=["token", "tokenFile"])
def field(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_new_token_is_sent(server: PrivateApiServer, kubeconfig: Path, field: str) -> None:
    names = [f"{field.lower()}-{when}" for when in ("before", "after")]
    async with await Hub.connect(server.kubeconfig, limits=PATIENT) as admin:
        tokens = []
        for name in names:
            await admin.create(ACCOUNT, {"metadata": {"name": name, "namespace": "default"}})
            tokens.append(await token(admin, name, namespace="default"))

    def use(value: str) -> None:
        if field == "token":
            write(kubeconfig, server, {"token": value})
        else:
            (kubeconfig.parent / "token").write_text(f"{value}\n")

    write(kubeconfig, server, {"tokenFile": "token"})
    use(tokens[0])
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, f"system:serviceaccount:default:{names[0]}")
        use(tokens[1])
        await becomes(hub, f"system:serviceaccount:default:{names[1]}")


async def test_a_new_authority_of_the_server_is_trusted_instead_of_the_old_one(
    servers: Servers, tmp_path: Path
) -> None:
    server = await servers.started_api_server()
    bundle = tmp_path / "ca.crt"
    old = server.authority.read_bytes()
    bundle.write_bytes(old)
    kubeconfig = tmp_path / "kubeconfig"
    write(kubeconfig, server, {"token": server.token})
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await eventually(lambda: who(hub))
        await server.kill()
        made = new_certificate(LOOPBACK)
        server.authority.write_text(made.chain)
        server.authority.with_suffix(".key").write_text(made.key)
        await server.start()
        assert await who(hub) == ""
        bundle.write_text(made.chain)
        await eventually(lambda: who(hub))
        bundle.write_bytes(old)
        await eventually(lambda: who(hub), lambda seen: seen == "")
    await server.kill()


async def test_unusable_credentials_leave_the_old_ones_in_use(
    server: PrivateApiServer,
    kubeconfig: Path,
    authority: Authority,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write(kubeconfig, server, copied(authority.issue("good"), kubeconfig.parent))
    caplog.set_level(logging.WARNING, "hub.following")

    async def complains(hub: Hub) -> bool:
        assert await who(hub) == "good"
        return "so the old ones stay in use" in caplog.text

    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, "good")
        (kubeconfig.parent / "tls.key").write_bytes(authority.issue("other").key.read_bytes())
        await eventually(lambda: complains(hub))
        copied(authority.issue("restored"), kubeconfig.parent)
        await becomes(hub, "restored")


async def test_another_current_context_does_not_move_a_client_to_another_cluster(
    server: PrivateApiServer, kubeconfig: Path, authority: Authority
) -> None:
    write(kubeconfig, server, inline(authority.issue("stays")))
    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, "stays")
        choose_another_context(kubeconfig, inline(authority.issue("moved-on")))
        await becomes(hub, "moved-on")


async def test_a_kubeconfig_for_another_server_is_not_used(
    server: PrivateApiServer,
    kubeconfig: Path,
    authority: Authority,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write(kubeconfig, server, inline(authority.issue("here")))
    caplog.set_level(logging.WARNING, "hub.following")

    async def complains(hub: Hub) -> bool:
        assert await who(hub) == "here"
        return "are for https://127.0.0.1:1 now: restart to connect there" in caplog.text

    async with await Hub.connect(kubeconfig, limits=PATIENT) as hub:
        await becomes(hub, "here")
        there = inline(authority.issue("there"))
        write(kubeconfig, server, there, url="https://127.0.0.1:1")
        await eventually(lambda: complains(hub))
