"""The pod that this process runs in, if any."""

import os
from collections.abc import Mapping
from pathlib import Path

POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""Mounted together with the token of a pod's service account."""


def own_namespace(
    path: Path | None,
    *,
    context: str | None = None,
    environment: Mapping[str, str] = os.environ,
    file: Path = POD_NAMESPACE,
) -> str:
    """Return the namespace of this process's pod; empty if `load` reads a kubeconfig."""
    if not is_used(path, context, environment):
        return ""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def is_used(path: Path | None, context: str | None, environment: Mapping[str, str]) -> bool:
    """Return whether the pod's service account is used, because no kubeconfig is named."""
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    return not paths and not context and "KUBERNETES_SERVICE_HOST" in environment
