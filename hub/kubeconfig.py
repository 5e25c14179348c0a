"""Where the API server is and who we are there: a kubeconfig, or the pod we run in."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from kubernetes.aio import config
from kubernetes.aio.client import Configuration

from hub.errors import BadConfiguration

HOME_KUBECONFIG = Path("~/.kube/config")


async def load(
    path: Path | None, *, context: str | None = None, environment: Mapping[str, str] = os.environ
) -> Configuration:
    """Read the way to an API server.

    The first of: `path`; the environment's KUBECONFIG (several paths joined as for kubectl);
    the service account when running in a pod; `~/.kube/config`.
    """
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    if not paths and "KUBERNETES_SERVICE_HOST" in environment:
        return _in_cluster()
    return await _from_files(paths or str(HOME_KUBECONFIG), context)


def _in_cluster() -> Configuration:
    configuration = Configuration()
    try:
        config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError) as error:
        raise BadConfiguration(
            f"this looks like a pod, but its service account cannot be used: {error}; "
            "mount a service account token, or set KUBECONFIG"
        ) from error
    return configuration


async def _from_files(paths: str, context: str | None) -> Configuration:
    documents = _documents(paths)
    if not documents:
        raise BadConfiguration(
            f"no kubeconfig at {paths}: name one with --kubeconfig or KUBECONFIG, "
            "or start a local fleet with `fleetgate local up`"
        )
    _check_context(paths, documents, context)
    configuration = Configuration()
    try:
        await config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=paths,
            context=context,
            client_configuration=configuration,
            persist_config=False,
        )
    except (config.ConfigException, OSError, ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"kubeconfig {paths} cannot be used: {error}") from error
    return configuration


def _documents(paths: str) -> list[dict[str, Any]]:
    files = [Path(part).expanduser() for part in paths.split(os.pathsep) if part]
    return [_read(file) for file in files if file.exists()]


def _read(file: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"kubeconfig {file} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise BadConfiguration(f"kubeconfig {file} is not YAML") from error
    if not isinstance(document, dict):
        raise BadConfiguration(f"kubeconfig {file} is empty or no kubeconfig")
    return document


def _check_context(paths: str, documents: list[dict[str, Any]], context: str | None) -> None:
    named = [
        entry.get("name") for document in documents for entry in document.get("contexts") or []
    ]
    wanted = context or next(
        (document["current-context"] for document in documents if document.get("current-context")),
        None,
    )
    have = ", ".join(sorted(str(name) for name in named)) or "none"
    if wanted is None:
        raise BadConfiguration(
            f"kubeconfig {paths} has no current-context: name one of its contexts with "
            f"--context (it has: {have})"
        )
    if wanted not in named:
        raise BadConfiguration(f"kubeconfig {paths} has no context {wanted!r} (it has: {have})")
