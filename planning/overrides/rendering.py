"""Rendering a placement's content for one cluster, with the overrides that apply there.

contract: placement 9 (apply order per object, values, RFC 6902), 10, 6 (override failure text)
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonpatch
import jsonpointer

from api.names import MEMBER_NAME
from api.overrides import JsonPatchOverride, OverrideType, PatchOperation
from api.reasons.bindings import LABEL_MISSING, OVERRIDE_REFUSED
from planning import envelopes
from planning.overrides import matching
from planning.overrides.matching import Overrides, OverrideSnapshot, UnreadableError, targets
from planning.overrides.validation import refusal
from planning.resource_order import Identity, identify

Json = dict[str, Any]


class OverrideError(Exception):
    """An override cannot be applied; the text goes into the binding's condition Overridden."""


class PatchError(Exception):
    """A patch cannot be applied to an object; the text never quotes the object's content."""


@dataclass(frozen=True, slots=True)
class Member:
    """Data of the target cluster that an override may use."""

    name: str
    labels: Mapping[str, str]


def overridden(
    resources: Sequence[Json], overrides: Overrides, *, cluster: str, labels: Mapping[str, str]
) -> list[Json]:
    """Return the objects for a cluster, in their order, without those that an override deletes.

    `overrides` are those that a binding names. Overrides change the content of an envelope, which
    has to be checked beforehand (`planning.envelopes`). Raises OverrideError.
    """
    if not overrides:
        return list(resources)
    # On a hub that neither fleetgate nor KubeFleet manages, the automatic label may be missing.
    member = Member(cluster, {**labels, MEMBER_NAME: cluster})
    rendered = (_render(each, overrides, member) for each in resources)
    return [each for each in rendered if each is not None]


def _render(resource: Json, overrides: Overrides, member: Member) -> Json | None:
    """Return the rendered object; None if an override deletes it."""
    if not envelopes.is_envelope(resource):
        return _apply(resource, overrides.about(targets([resource])), member)
    # The envelope itself is not placed: an override of its namespace is meant for its content.
    envelope = _apply(resource, overrides.about([identify(resource)]), member)
    if envelope is None:
        return None
    data = {key: _render(each, overrides, member) for key, each in envelope["data"].items()}
    return envelope | {"data": {key: each for key, each in data.items() if each is not None}}


def _apply(resource: Json, about: Overrides, member: Member) -> Json | None:
    snapshots: list[OverrideSnapshot] = [*about.cluster_resource, *about.resource]
    for snapshot in snapshots:
        try:
            changed = _follow(snapshot, resource, member)
        except PatchError as error:
            raise OverrideError(_failed(snapshot, resource, str(error))) from error
        except UnreadableError as error:
            raise OverrideError(_failed(snapshot, resource, error.words)) from error
        if changed is None:
            return None
        resource = changed
    return resource


def _follow(snapshot: OverrideSnapshot, resource: Json, member: Member) -> Json | None:
    for rule in snapshot.spec.override_spec.policy.override_rules:
        if not matching.picks(rule, member.labels, snapshot):
            continue
        if rule.override_type == OverrideType.DELETE:
            return None
        changed = patch(resource, rule.json_patch_overrides, member)
        _check_identities(resource, changed)
        resource = changed
    return resource


def _check_identities(resource: Json, changed: Json) -> None:
    """Reject a patch that turns an object in an envelope into another one.

    For other objects the patch's path is checked (`refusal`); below an envelope's `data` the path
    does not tell. Raises PatchError.
    """
    if not envelopes.is_envelope(resource):
        return
    before = resource["data"]
    after = changed.get("data")
    if not isinstance(after, Mapping):
        raise PatchError("cannot override field data of an envelope as a whole")
    for key in before.keys() & after.keys():
        if _identity(before[key]) != _identity(after[key]):
            raise PatchError(
                f"cannot override apiVersion, kind, name or namespace of an object in an envelope: "
                f"{key}"
            )


def _identity(wrapped: object) -> Identity | None:
    """Return the identity of an object; None if it is not an object."""
    if not isinstance(wrapped, dict):
        return None
    try:
        return identify(wrapped)
    except (AttributeError, KeyError, TypeError):
        return None


def _failed(snapshot: OverrideSnapshot, resource: Json, error: str) -> str:
    what = identify(resource)
    return OVERRIDE_REFUSED.fill(
        kind=snapshot.kind,
        name=snapshot.metadata.name,
        object_kind=what.kind,
        object=what.name,
        namespace=what.namespace,
        error=error,
    )


# -- the JSON patches of an override ------------------------------------------------------

_CLUSTER_NAME: Final = "${MEMBER-CLUSTER-NAME}"
_LABEL: Final = "${MEMBER-CLUSTER-LABEL-KEY-"


def patch(resource: Json, overrides: Sequence[JsonPatchOverride], member: Member) -> Json:
    """Return the patched object; the given one is not changed.

    Raises PatchError.
    """
    for override in overrides:
        resource = _apply_patch(resource, override, member)
    return resource


def _apply_patch(resource: Json, override: JsonPatchOverride, member: Member) -> Json:
    refused = refusal(override)
    if refused:
        raise PatchError(refused)
    operation: Json = {"op": override.op.value, "path": override.path}
    if override.op != PatchOperation.REMOVE:
        # Set even if it is None: null is a valid value.
        operation["value"] = _fill_in(override.value, member)
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


def _fill_in(value: object, member: Member) -> object:
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
            raise PatchError(LABEL_MISSING.fill(key=key, cluster=member.name))
        filled = before + member.labels[key] + after
    return filled
