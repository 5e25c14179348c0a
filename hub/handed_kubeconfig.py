"""A kubeconfig that somebody else handed over, such as one in a Secret.

Its author is not the operator of this process, so that it must hold all that it needs: one that
names a program would have it run here, and one that names files would have them read here.
"""

from collections.abc import Iterator
from typing import Any, Final

import yaml
from kubernetes.aio import config
from kubernetes.aio.client import Configuration

from hub.errors import BadConfiguration

_LOCAL: Final = {
    "exec": "runs a program of this machine",
    "auth-provider": "runs a program of this machine",
    "tokenFile": "names a file of this machine",
    "certificate-authority": "names a file of this machine",
    "client-certificate": "names a file of this machine",
    "client-key": "names a file of this machine",
}
"""Fields of users and clusters that reach beyond the kubeconfig."""


async def load(text: str) -> Configuration:
    """Read the way to an API server from the text of a kubeconfig. Raises BadConfiguration."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadConfiguration("the kubeconfig is not YAML") from error
    if not isinstance(document, dict):
        raise BadConfiguration("the kubeconfig is empty or no kubeconfig")
    for field, problem in _problems(document):
        raise BadConfiguration(
            f"the kubeconfig's {field} {problem}: put the token or the certificates themselves "
            "into it (token, certificate-authority-data, client-certificate-data, client-key-data)"
        )
    configuration = Configuration()
    try:
        await config.load_kube_config_from_dict(  # type: ignore[no-untyped-call]
            document, client_configuration=configuration
        )
    except (config.ConfigException, OSError, ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"the kubeconfig cannot be used: {error}") from error
    return configuration


def _problems(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for section in ("users", "clusters"):
        for entry in document.get(section) or []:
            content = entry.get(section.removesuffix("s")) if isinstance(entry, dict) else None
            for field in _LOCAL.keys() & (content or {}).keys():
                yield field, _LOCAL[field]
