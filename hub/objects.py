"""What every Kubernetes object has, read from its wire form."""

import json
from typing import Any, overload

from pydantic_core import from_json

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


@overload
def labels_of(body: Json) -> dict[str, str]: ...


@overload
def labels_of(body: Json | None) -> dict[str, str] | None: ...


def labels_of(body: Json | None) -> dict[str, str] | None:
    """An object's labels; None without the object."""
    return None if body is None else body["metadata"].get("labels", {})


def decode(text: bytes | str) -> Any:  # noqa: ANN401  (JSON)
    """Read JSON; short texts that many objects have in common are in memory once.

    Raises ValueError.
    """
    try:
        return from_json(text)
    except ValueError:
        # It reads no more than 200 levels, and a hub takes objects of any depth.
        return json.loads(text)
