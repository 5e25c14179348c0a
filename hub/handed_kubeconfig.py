"""A kubeconfig from someone else, such as one in a Secret.

Its author is not the operator of this process, so it must be self-contained: naming a program would
run that program here, and naming files would read them here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from hub import plain_user
from hub.access import Access
from hub.errors import BadConfiguration
from hub.plain_user import KubeconfigEntry

_LOCAL: Final = {
    "exec": "runs a program on this machine",
    "auth-provider": "runs a program on this machine",
    "tokenFile": "names a file on this machine",
    "certificate-authority": "names a file on this machine",
    "client-certificate": "names a file on this machine",
    "client-key": "names a file on this machine",
}
"""Fields of users and clusters that refer to something outside the kubeconfig."""


def load(text: str) -> Access:
    """Read the access to an API server from the text of a kubeconfig. Raises BadConfiguration."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadConfiguration("the kubeconfig is not YAML") from error
    if not isinstance(document, dict):
        raise BadConfiguration("the kubeconfig is empty or not a kubeconfig")
    for field, problem in _problems(document):
        raise BadConfiguration(
            f"the kubeconfig's {field} {problem}: put the token or the certificates directly "
            "into it (token, certificate-authority-data, client-certificate-data, client-key-data)"
        )
    try:
        context = _named(document, "contexts", document["current-context"])
        cluster = _named(document, "clusters", context["cluster"])
        user = _named(document, "users", context["user"]) if context.get("user") else {}
        return plain_user.access(KubeconfigEntry(cluster, Path()), KubeconfigEntry(user, Path()))
    except LookupError as error:
        raise BadConfiguration(f"the kubeconfig cannot be used: it has no {error}") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"the kubeconfig cannot be used: {error}") from error


def compose(cluster: dict[str, Any], *, token: str) -> str:
    """Return the text of a kubeconfig that `load` accepts.

    Args:
        cluster: the cluster, with its certificates inline (`kubeconfig.cluster_to_hand_out`).
        token: the bearer token of its only user.
    """
    name = "fleetgate"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
    }
    return yaml.safe_dump(document, sort_keys=False)


def _named(document: dict[str, Any], section: str, name: str) -> dict[str, Any]:
    """Return the content of the entry with this name. Raises LookupError."""
    part = section.removesuffix("s")
    for entry in document[section]:
        if entry["name"] == name:
            content: dict[str, Any] = entry[part]
            return content
    raise LookupError(f"{part} {name!r}")


def _problems(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for section in ("users", "clusters"):
        for entry in document.get(section) or []:
            content = entry.get(section.removesuffix("s")) if isinstance(entry, dict) else None
            for field in _LOCAL.keys() & (content or {}).keys():
                yield field, _LOCAL[field]
