"""Bodies to apply on a member: manifests marked as the agent's own, with notes for the next apply.

contract: placement 8 (ownership)
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from api import names
from api.base import OwnerReference

Json = Mapping[str, Any]

_MOST_ANNOTATIONS: Final = 256 * 1024
"""Bytes of all annotations of an object, names included; the API server's limit."""

_SERVER_OWNED: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""Metadata that belongs to the cluster where an object lives; an envelope may contain it."""

_NOTES: Final = frozenset(
    {
        names.SPEC_HASH,
        names.LAST_APPLIED,
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)
"""Annotations about how an object was applied where it was read."""


def cleaned(manifest: Json) -> dict[str, Any]:
    """Return the manifest without the fields that only its own cluster sets."""
    metadata = dict(manifest.get("metadata") or {})
    annotations = metadata.pop("annotations", None) or {}
    kept = {name: value for name, value in metadata.items() if name not in _SERVER_OWNED}
    wanted = {name: value for name, value in annotations.items() if name not in _NOTES}
    if wanted:
        kept["annotations"] = wanted
    rest = {name: value for name, value in manifest.items() if name != "status"}
    return rest | {"metadata": kept}


def spec_hash(manifest: Json) -> str:
    """Return a manifest's hash, noted on the object: hex SHA-256 of its JSON with sorted keys."""
    return hashlib.sha256(_text(manifest).encode()).hexdigest()


def noted_hash(live: Json) -> str:
    """Return the hash of the manifest that was applied last; empty if none was."""
    return str(_annotations(live).get(names.SPEC_HASH, ""))


def owned(manifest: Json, owner: OwnerReference) -> dict[str, Any]:
    """Return the manifest with the owner reference and hash that mark it as the agent's own."""
    noted = {names.SPEC_HASH: spec_hash(manifest)}
    return _with_metadata(
        manifest,
        annotations=_annotations(manifest) | noted,
        ownerReferences=[owner.to_wire()],
    )


def remembering(body: Json) -> dict[str, Any] | None:
    """Return the body with a copy of itself as an annotation; None if that is too large."""
    annotations = _annotations(body) | {names.LAST_APPLIED: _text(body)}
    size = sum(len(f"{name}{value}".encode()) for name, value in annotations.items())
    if size > _MOST_ANNOTATIONS:
        return None
    return _with_metadata(body, annotations=annotations)


def forgetting(body: Json) -> dict[str, Any]:
    """Return the body with an empty annotation, for a copy of itself that would be too large."""
    return _with_metadata(body, annotations=_annotations(body) | {names.LAST_APPLIED: ""})


def remembered(live: Json) -> dict[str, Any]:
    """Return what was applied last, as noted on the object; empty if unknown."""
    try:
        noted = json.loads(_annotations(live).get(names.LAST_APPLIED) or "{}")
    except ValueError:
        noted = {}
    if not isinstance(noted, dict) or not isinstance(noted.get("metadata"), dict):
        # Never noted, or edited by hand: better to remove nothing than the wrong thing.
        return {}
    # The note was applied too, though it does not contain itself.
    return forgetting(noted)


def _annotations(body: Json) -> dict[str, Any]:
    return dict((body.get("metadata") or {}).get("annotations") or {})


def _with_metadata(body: Json, **more: object) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], **more}}


def _text(body: Json) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"))
