"""Real credentials for agents: tokens of ServiceAccounts, in kubeconfigs."""

from pathlib import Path
from typing import Any

import yaml

import deploy
from api.kinds import Kind
from hub import Hub

RIGHTS = Path(deploy.__file__).parent / "rbac"
ON_HUB = "member-agent-on-hub.yaml"
ON_MEMBER = "member-agent-on-member.yaml"


async def kubeconfig_of_nobody(
    cluster: Hub, kubeconfig: Path, folder: Path, *, name: str = "nobody"
) -> Path:
    """A copy of a kubeconfig with a user that has almost no rights."""
    accounts = Kind("", "v1", "ServiceAccount", "serviceaccounts", namespaced=True)
    await cluster.create(accounts, {"metadata": {"name": name, "namespace": "default"}})
    return await of_account(kubeconfig, cluster, name, namespace="default", folder=folder)


async def grant(cluster: Hub, file: str, *, member: str = "") -> None:
    """Apply one of the shipped files, as the comment at its top says."""
    text = (RIGHTS / file).read_text().replace("MEMBER", member)
    for document in yaml.safe_load_all(text):
        kind = await cluster.kind_for(document["apiVersion"], document["kind"])
        assert kind is not None
        await cluster.apply(kind, document, manager="test")


async def token(cluster: Hub, account: str, *, namespace: str) -> str:
    """A token of a ServiceAccount."""
    tokens = Kind("", "v1", "TokenRequest", f"serviceaccounts/{account}/token", namespaced=True)
    request = {"apiVersion": "authentication.k8s.io/v1", "metadata": {}, "spec": {}}
    answer = await cluster.create(tokens, request, namespace=namespace)
    found: str = answer["status"]["token"]
    return found


def with_user(kubeconfig: str, user: dict[str, Any]) -> str:
    """The kubeconfig with another user; it refers to no other files."""
    document = yaml.safe_load(kubeconfig)
    document["users"][0]["user"] = user
    return yaml.safe_dump(document)


async def of_account(
    kubeconfig: Path, cluster: Hub, account: str, *, namespace: str, folder: Path
) -> Path:
    """A kubeconfig file with a token of a ServiceAccount."""
    found = await token(cluster, account, namespace=namespace)
    return _write(folder / f"{account}.kubeconfig", kubeconfig, {"token": found})


def _write(path: Path, kubeconfig: Path, user: dict[str, Any]) -> Path:
    path.write_text(with_user(kubeconfig.read_text(), user))
    return path
