"""Comparing objects: the hub's manifest with the object on the member.

contract: placement 7 (observedDrifts, observedDiffs), 8 (drift and diff) and 12
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, Final

from jsonpointer import JsonPointer

from api.outcomes import PatchDetail

Json = Mapping[str, Any]
_Parts = tuple[str | int, ...]

MOST_DETAILS: Final = 100
"""Differences listed per object; the rest are left out, because the status has to fit into etcd."""

ABSENT: Final = PatchDetail(path="/", value_in_hub="(the whole object)")
"""The single difference reported for an object that is missing on the member."""

_MANAGED: Final = frozenset({"annotations", "labels"})
_FOREIGN_DOMAINS: Final = ("kubernetes.io/", "k8s.io/", "kubernetes-fleet.io/")
"""Domains of labels and annotations that Kubernetes and the fleet set, not users."""

_REDACTED: Final = "(redacted for security reasons)"
_SECRET_FIELDS: Final = frozenset({"data", "stringData"})

_MISSING: Final = object()


def comparable(body: Json) -> dict[str, Any]:
    """Return the part of an object that users decide: without status and cluster-set metadata."""
    metadata = body.get("metadata") or {}
    said = {field: _said(metadata.get(field) or {}) for field in sorted(_MANAGED)}
    rest = {name: value for name, value in body.items() if name not in ("metadata", "status")}
    return rest | {"metadata": {field: content for field, content in said.items() if content}}


def content_hash(body: Json) -> str:
    """Return a hash of an object's content and owners, which its status does not affect."""
    owners = (body.get("metadata") or {}).get("ownerReferences") or []
    text = json.dumps([comparable(body), owners], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(hub: Json, member: Json) -> list[PatchDetail]:
    """Return the first differences between two versions of an object, with JSON pointers as paths.

    Args:
        hub: the object as it should be.
        member: the object as it is. The content of a Secret is redacted.
    """
    found = _walk((), _each_label(comparable(hub)), _each_label(comparable(member)))
    is_secret = (hub.get("apiVersion"), hub.get("kind")) == ("v1", "Secret")
    return [
        _detail(parts, *values, hidden=is_secret and parts[0] in _SECRET_FIELDS)
        for parts, *values in islice(found, MOST_DETAILS)
    ]


def _each_label(body: dict[str, Any]) -> dict[str, Any]:
    """Add empty labels and annotations, so that they are compared one by one."""
    return body | {"metadata": {field: {} for field in sorted(_MANAGED)} | body["metadata"]}


def _said(content: Json) -> dict[str, Any]:
    return {
        name: value
        for name, value in content.items()
        if not any(domain in name for domain in _FOREIGN_DOMAINS)
    }


def _walk(parts: _Parts, hub: object, member: object) -> Iterator[tuple[_Parts, object, object]]:
    # Not jsonpatch.make_patch: it turns equal values into moves, which hide one of the values.
    if isinstance(hub, Mapping) and isinstance(member, Mapping):
        for name in sorted(hub.keys() | member.keys()):
            yield from _walk((*parts, name), hub.get(name, _MISSING), member.get(name, _MISSING))
    elif isinstance(hub, list) and isinstance(member, list):
        for position, pair in enumerate(zip_longest(hub, member, fillvalue=_MISSING)):
            yield from _walk((*parts, position), *pair)
    elif type(hub) is not type(member) or hub != member:
        yield parts, hub, member


def _detail(parts: _Parts, hub: object, member: object, *, hidden: bool) -> PatchDetail:
    values = {"value_in_hub": hub, "value_in_member": member}
    # A missing value stays unset, so that it is not written.
    shown = {
        name: _REDACTED if hidden else _text(value)
        for name, value in values.items()
        if value is not _MISSING
    }
    return PatchDetail(path=JsonPointer.from_parts(parts).path, **shown)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
