"""Applying an override's JSON patches to an object.

contract: placement 9 (values, RFC 6902)
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonpatch
import jsonpointer

from api.overrides import JsonPatchOverride, PatchOperation
from planning.overrides import paths

Json = dict[str, Any]

_CLUSTER_NAME: Final = "${MEMBER-CLUSTER-NAME}"
_LABEL: Final = "${MEMBER-CLUSTER-LABEL-KEY-"


class PatchError(Exception):
    """A patch cannot be applied to an object; the text never quotes the object's content."""


@dataclass(frozen=True, slots=True)
class Member:
    """Data of the target cluster that an override may use."""

    name: str
    labels: Mapping[str, str]


def patch(resource: Json, overrides: Sequence[JsonPatchOverride], member: Member) -> Json:
    """Return the patched object; the given one is not changed.

    Raises PatchError.
    """
    for override in overrides:
        resource = _apply(resource, override, member)
    return resource


def _apply(resource: Json, override: JsonPatchOverride, member: Member) -> Json:
    refused = paths.refusal(override)
    if refused:
        raise PatchError(refused)
    operation: Json = {"op": override.op.value, "path": override.path}
    if override.op != PatchOperation.REMOVE:
        # Set even if it is None: null is a valid value.
        operation["value"] = fill_in(override.value, member)
    try:
        changed: Json = jsonpatch.apply_patch(resource, [operation])
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        # The library's own texts quote the object, which may be a Secret.
        raise PatchError(_why(override, error)) from None
    return changed


def _why(override: JsonPatchOverride, error: Exception) -> str:
    """Return the error in the words of KubeFleet's library (contract: placement 6)."""
    op, path = override.op, override.path
    if op == PatchOperation.ADD or isinstance(error, jsonpointer.JsonPointerException):
        where = path if override.op == PatchOperation.REPLACE else f'"{path}"'
        return (
            f"{override.op} operation does not apply: doc is missing path: {where}: missing value"
        )
    if override.op == PatchOperation.REPLACE:
        return f"replace operation does not apply: doc is missing key: {path}: missing value"
    key = path.rpartition("/")[2]
    return (
        f"error in remove for path: '{path}': unable to remove nonexistent key: {key}:"
        " missing value"
    )


def fill_in(value: object, member: Member) -> object:
    """Replace the variables anywhere in a value, including keys.

    Raises PatchError.
    """
    text = json.dumps(value, ensure_ascii=False)
    if "${" not in text:
        return value
    return json.loads(_with_labels(text, member).replace(_CLUSTER_NAME, member.name))


def _with_labels(text: str, member: Member) -> str:
    filled = text
    while _LABEL in filled:
        before, _, rest = filled.partition(_LABEL)
        key, closed, after = rest.partition("}")
        if not closed:
            raise PatchError(f"input {text} is missing the closing bracket `}}`")
        if key not in member.labels:
            raise PatchError(f"label key {key} not found on cluster {member.name}")
        filled = before + member.labels[key] + after
    return filled
