"""Kubeconfig files for the clusters of the fleet."""

import base64
from pathlib import Path

import yaml

from deploy.local.files import write_private

USER = "admin"
"""The administrator of every cluster, in the group system:masters."""


def write_kubeconfig(
    path: Path, *, cluster: str, url: str, authority: Path, token: str, user: str = USER
) -> None:
    """Write a kubeconfig with one context, unless the file has that content already."""
    certificates = base64.b64encode(authority.read_bytes()).decode()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": cluster,
                "cluster": {"server": url, "certificate-authority-data": certificates},
            }
        ],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
        "current-context": cluster,
    }
    text = yaml.safe_dump(content, sort_keys=False)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_private(path, text)
