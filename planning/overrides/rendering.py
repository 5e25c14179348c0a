"""Content as it is on one cluster, changed by the overrides that apply there.

contract: placement 9 (apply order per object), 10, 6 (override failure text)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from api.names import MEMBER_NAME
from api.overrides import OverrideType
from planning import envelopes
from planning.overrides import matching, patches
from planning.overrides.errors import UnreadableError
from planning.overrides.matching import Overrides, OverrideSnapshot
from planning.overrides.patches import Member, PatchError
from planning.overrides.targets import targets
from planning.resource_order import Identity, identify

Json = dict[str, Any]


class OverrideError(Exception):
    """An override cannot be applied; the text goes into the binding's condition Overridden."""


def overridden(
    resources: Sequence[Json], overrides: Overrides, *, cluster: str, labels: Mapping[str, str]
) -> list[Json]:
    """The objects as they go to a cluster, in their order; those left out are missing.

    `overrides` are those that a binding names. Of an envelope its content is changed; it has to
    be checked before (`planning.envelopes`). Raises OverrideError.
    """
    if not overrides:
        return list(resources)
    # A hub that is not fleetgate's or KubeFleet's may do without the automatic label.
    member = Member(cluster, {**labels, MEMBER_NAME: cluster})
    rendered = (_render(each, overrides, member) for each in resources)
    return [each for each in rendered if each is not None]


def _render(resource: Json, overrides: Overrides, member: Member) -> Json | None:
    """One object; None when it is left out."""
    if not envelopes.is_envelope(resource):
        return _apply(resource, overrides.about(targets([resource])), member)
    # It is not placed itself: an override of its namespace is meant for what it holds.
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
            raise OverrideError(_failed(snapshot, resource, error.told)) from error
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
        changed = patches.patch(resource, rule.json_patch_overrides, member)
        _check_identities(resource, changed)
        resource = changed
    return resource


def _check_identities(resource: Json, changed: Json) -> None:
    """Refuse a patch by which an object becomes another one, as which nobody selected it.

    Of an object itself the path tells (`planning.overrides.paths`); below an envelope's `data` it
    does not. Raises PatchError.
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
    """Which object it is; None if it is none."""
    if not isinstance(wrapped, dict):
        return None
    try:
        return identify(wrapped)
    except (AttributeError, KeyError, TypeError):
        return None


def _failed(snapshot: OverrideSnapshot, resource: Json, error: str) -> str:
    what = identify(resource)
    return (
        f'{snapshot.kind} "{snapshot.metadata.name}" failed to apply on {what.kind}'
        f' "{what.name}" in namespace "{what.namespace}": {error}'
    )
