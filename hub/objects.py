"""Access to what every Kubernetes object has in its wire form."""

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
    """Return the namespace and name of an object."""
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def version_of(body: Json) -> str:
    """Return the resource version of an object or a list; empty if it has none."""
    version: str = body.get("metadata", {}).get("resourceVersion", "")
    return version


def uid_of(body: Json) -> str:
    """Return the UID of an object; empty if it was never stored."""
    uid: str = body["metadata"].get("uid", "")
    return uid


@overload
def labels_of(body: Json) -> dict[str, str]: ...


@overload
def labels_of(body: Json | None) -> dict[str, str] | None: ...


def labels_of(body: Json | None) -> dict[str, str] | None:
    """Return the labels of an object; None if the object is None."""
    return None if body is None else body["metadata"].get("labels", {})


def decode(text: bytes | str) -> Any:  # noqa: ANN401  (JSON)
    """Parse JSON; short strings that many objects share are kept in memory only once.

    Raises ValueError.
    """
    try:
        return from_json(text)
    except ValueError:
        # pydantic's parser supports only 200 levels of nesting; objects on a hub may have more.
        return json.loads(text)
