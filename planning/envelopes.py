"""Envelopes: reading the objects inside, and checking that these are allowed.

contract: placement 10
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from api.kinds import CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE, Kind
from api.outcomes import EnvelopeIdentifier, EnvelopeType
from api.reasons.bindings import (
    CLUSTER_SCOPED_IN_ENVELOPE,
    NAMESPACED_IN_CLUSTER_ENVELOPE,
    OF_OTHER_NAMESPACE_IN_ENVELOPE,
    WRAPPED_NOT_READABLE,
)
from api.texts import Text
from planning.errors import unexpected, user

Json = dict[str, Any]
Served = Callable[[str, str], Kind | None]
"""Returns the kind for an apiVersion and a kind's name; None if the hub does not serve it."""

KINDS: Final = frozenset(
    (each.group, each.kind) for each in (CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE)
)
"""Group and kind of both envelope kinds."""


class EnvelopeError(Exception):
    """An envelope holds an object that it may not hold; the user has to remove it."""


def is_envelope(resource: Json) -> bool:
    """Return whether the object is an envelope: its content is placed, not the envelope itself."""
    group = resource["apiVersion"].rpartition("/")[0]
    return (group, resource["kind"]) in KINDS


def identifier(envelope: Json) -> EnvelopeIdentifier:
    """Return the reference to an envelope that statuses use."""
    metadata = envelope["metadata"]
    namespace = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    return EnvelopeIdentifier(
        name=metadata["name"], type=EnvelopeType(envelope["kind"]), **namespace
    )


def digest(envelope: EnvelopeIdentifier) -> str:
    """Return sixteen hexadecimal digits that identify an envelope.

    contract: placement 8 (names of Works)
    """
    whole = f"{envelope.type}/{envelope.namespace}/{envelope.name}"
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def unknown(_api_version: str, _kind: str) -> Kind | None:
    """Return None for every kind, as if only members served it."""
    return None


def content(envelope: Json, served: Served = unknown) -> list[Json]:
    """Return the objects in an envelope, in KubeFleet's order: by their JSON, descending.

    Raises EnvelopeError.
    """
    for key, wrapped in envelope["data"].items():
        _check(key, wrapped, envelope, served)
    return sorted(envelope["data"].values(), key=_as_json, reverse=True)


def _as_json(wrapped: Json) -> str:
    return json.dumps(wrapped, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _check(key: str, wrapped: Json, envelope: Json, served: Served) -> None:
    where = _reference(envelope["metadata"])
    lacking = _lacking(wrapped)
    if lacking:
        raise EnvelopeError(
            unexpected(WRAPPED_NOT_READABLE.fill(key=key, envelope=where, field=lacking))
        )
    misplaced = _misplaced(wrapped, served(wrapped["apiVersion"], wrapped["kind"]), envelope)
    if misplaced:
        what = f"{key} ({_reference(wrapped['metadata'])})"
        raise EnvelopeError(user(misplaced.fill(wrapped=what, envelope=where)))


def _lacking(wrapped: Json) -> str:
    """Return the missing field that every object needs, never any content; empty if complete."""
    for field in ("apiVersion", "kind"):
        if not isinstance(wrapped.get(field), str):
            return field
    return "" if isinstance(wrapped.get("metadata"), Mapping) else "metadata"


def _misplaced(wrapped: Json, kind: Kind | None, envelope: Json) -> Text | None:
    """Return why an object is in the wrong envelope; None if it is not.

    A namespace set on an object of a cluster-scoped kind means nothing. For a kind that only
    members serve, the scope is guessed from the namespace here; the members' agents know it.
    """
    namespace = wrapped["metadata"].get("namespace") or ""
    if envelope["kind"] == CLUSTER_RESOURCE_ENVELOPE.kind:
        return NAMESPACED_IN_CLUSTER_ENVELOPE if namespace else None
    if not namespace or (kind and not kind.namespaced):
        return CLUSTER_SCOPED_IN_ENVELOPE
    same = namespace == envelope["metadata"].get("namespace")
    return None if same else OF_OTHER_NAMESPACE_IN_ENVELOPE


def _reference(metadata: Mapping[str, Any]) -> str:
    """Return `<namespace>/<name>`, or only the name if there is no namespace."""
    namespace, name = metadata.get("namespace"), metadata.get("name", "")
    return f"{namespace}/{name}" if namespace else str(name)
