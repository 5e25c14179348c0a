"""What every Kubernetes object has, read from its wire form."""

from typing import Any

Json = dict[str, Any]
"""An object as the API server sends it."""

JsonPatch = list[Json]
"""Operations of an RFC 6902 patch."""

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""


def key_of(body: Json) -> Key:
    """Namespace and name of an object."""
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def version_of(body: Json) -> str:
    """Resource version of an object, or of a list; empty when it has none."""
    version: str = body.get("metadata", {}).get("resourceVersion", "")
    return version


def uid_of(body: Json) -> str:
    """UID of an object; empty when it was never stored."""
    uid: str = body["metadata"].get("uid", "")
    return uid
