"""What envelopes hold, and what they may hold.

contract: placement 10
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from api.kinds import CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE, Kind
from api.outcomes import EnvelopeIdentifier, EnvelopeType
from planning.errors import unexpected, user

Json = dict[str, Any]
Served = Callable[[str, str], Kind | None]
"""The kind of an apiVersion and a name, where the hub serves it too."""

KINDS: Final = frozenset(
    (each.group, each.kind) for each in (CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE)
)
"""Group and kind of both."""


class EnvelopeError(Exception):
    """An envelope holds what it may not; its user has to take it out."""


def is_envelope(resource: Json) -> bool:
    """Whether the object stands for what it holds, and is not placed itself."""
    group = resource["apiVersion"].rpartition("/")[0]
    return (group, resource["kind"]) in KINDS


def identifier(envelope: Json) -> EnvelopeIdentifier:
    """How others point at an envelope."""
    metadata = envelope["metadata"]
    namespace = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    return EnvelopeIdentifier(
        name=metadata["name"], type=EnvelopeType(envelope["kind"]), **namespace
    )


def digest(envelope: EnvelopeIdentifier) -> str:
    """Sixteen hexadecimal digits that tell an envelope from all others.

    contract: placement 8 (names of Works)
    """
    whole = f"{envelope.type}/{envelope.namespace}/{envelope.name}"
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def unknown(_api_version: str, _kind: str) -> Kind | None:
    """Say of every kind that only members serve it."""
    return None


def content(envelope: Json, served: Served = unknown) -> list[Json]:
    """The objects that an envelope holds, in KubeFleet's order: by their JSON, the last first.

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
            unexpected(
                "failed to parse the wrapped manifest data to a Kubernetes runtime object"
                f" (manifestKey={key},envelopeObjRef={where}): {lacking} is missing"
            )
        )
    misplaced = _misplaced(wrapped, served(wrapped["apiVersion"], wrapped["kind"]), envelope)
    if misplaced:
        what = f"{key} ({_reference(wrapped['metadata'])})"
        raise EnvelopeError(user(misplaced.format(what=what, where=where)))


def _lacking(wrapped: Json) -> str:
    """The field without which it is no object; empty if it is one. Never says what is there."""
    for field in ("apiVersion", "kind"):
        if not isinstance(wrapped.get(field), str):
            return field
    return "" if isinstance(wrapped.get("metadata"), Mapping) else "metadata"


def _misplaced(wrapped: Json, kind: Kind | None, envelope: Json) -> str:
    """What is wrong with where an object is; empty if nothing.

    The namespace that it says tells nothing where its kind has none. A kind that only members
    serve is judged by its namespace here, and by the agents of members as what it is.
    """
    namespace = wrapped["metadata"].get("namespace") or ""
    if envelope["kind"] == CLUSTER_RESOURCE_ENVELOPE.kind:
        wrong = "a namespaced object {what} has been wrapped in a cluster resource envelope {where}"
        return wrong if namespace else ""
    if not namespace or (kind and not kind.namespaced):
        return "a cluster scope object {what} has been wrapped in a resource envelope {where}"
    if namespace == envelope["metadata"].get("namespace"):
        return ""
    return (  # "in has been" is how KubeFleet says it.
        "a namespaced object {what} in has been wrapped in a resource envelope from another"
        " namespace ({where})"
    )


def _reference(metadata: Mapping[str, Any]) -> str:
    """`<namespace>/<name>`, or only the name without a namespace."""
    namespace, name = metadata.get("namespace"), metadata.get("name", "")
    return f"{namespace}/{name}" if namespace else str(name)
