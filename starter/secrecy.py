"""Hiding the values of Secrets in objects that are shown. Pure."""

from typing import Final

from hub import Json
from planning.envelopes import is_envelope

HIDDEN: Final = "(hidden)"
CHANGED: Final = "(hidden, changed)"
_WHOLE_COPY: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation in which kubectl keeps the whole object, including the values."""


def hidden(resource: Json, *, before: Json | None = None) -> Json:
    """Return the object without the values of Secrets, whether it is one or an envelope with some.

    With `before`, the same object in an earlier snapshot, values that differ are marked as changed.
    """
    if "apiVersion" in resource and is_envelope(resource):
        old = (before or {}).get("data") or {}
        held = (resource.get("data") or {}).items()
        return resource | {"data": {key: hidden(each, before=old.get(key)) for key, each in held}}
    # An object inside an envelope may be malformed.
    if (resource.get("apiVersion", "v1"), resource.get("kind")) == ("v1", "Secret"):
        return _hidden_secret(resource, before)
    return resource


def _hidden_secret(secret: Json, before: Json | None) -> Json:
    shown = dict(secret)
    for field in ("data", "stringData"):
        if values := secret.get(field):
            shown[field] = _hidden_values(values, (before or {}).get(field) if before else values)
    metadata = secret.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if _WHOLE_COPY in annotations:
        shown["metadata"] = metadata | {"annotations": annotations | {_WHOLE_COPY: HIDDEN}}
    return shown


def _hidden_values(values: Json, before: Json | None) -> Json:
    old = before or {}
    return {key: HIDDEN if old.get(key) == value else CHANGED for key, value in values.items()}
