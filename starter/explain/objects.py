"""Objects on a member in words: their names, differences and own conditions. Pure."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from api.bindings import BindingStatus
from api.outcomes import PatchDetail, ResourceIdentifier
from api.works import WorkResourceIdentifier
from planning.placements.binding_steps import WorkReport

DIFFERENCES_NAMED: Final = 3
MAX_VALUE: Final = 60
"""Characters shown of a value that differs."""
_COMMON: Final = frozenset({"", "apps", "batch"})
"""Groups whose kinds are usually named without the group."""
_WITH_PODS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"})
_BAD_WHEN_TRUE: Final = frozenset({"Failed", "FailureTarget", "ReplicaFailure", "Stalled"})
"""Conditions of common kinds that are bad when True; all others are bad when False."""


def title(entry: ResourceIdentifier) -> str:
    """Return `Deployment web/app`, and the envelope that the object is in, if any."""
    name = f"{entry.namespace}/{entry.name}" if entry.namespace else entry.name
    inside = f" (in {entry.envelope.type} {entry.envelope.name})" if entry.envelope else ""
    return f"{entry.kind} {name}{inside}"


def looks(entry: ResourceIdentifier) -> list[str]:
    """Return the kubectl arguments that show the object on the member."""
    group = "" if entry.group in _COMMON else f".{entry.group}"
    flag = f" -n {entry.namespace}" if entry.namespace else ""
    found = [f"describe {entry.kind.lower()}{group} {entry.name}{flag}"]
    return [*found, f"get pods{flag}"] if entry.kind in _WITH_PODS else found


def differences(entry: ResourceIdentifier, status: BindingStatus) -> Iterator[str]:
    """Yield the first few differences on the member, without values of Secrets."""
    found = [
        detail
        for drifted in status.drifted_placements
        if _key(drifted) == _key(entry)
        for detail in drifted.observed_drifts
    ]
    found += [
        detail
        for diffed in status.diffed_placements
        if _key(diffed) == _key(entry)
        for detail in diffed.observed_diffs
    ]
    distinct = list({each.path: each for each in found}.values())
    hidden = entry.kind == "Secret"
    for each in distinct[:DIFFERENCES_NAMED]:
        yield f"{each.path} differs" if hidden else _difference(each)
    if more := distinct[DIFFERENCES_NAMED:]:
        yield f"and {len(more)} more differ"


def reported(entry: ResourceIdentifier, works: Iterable[WorkReport]) -> Iterator[str]:
    """Yield the object's own bad conditions, if its status is reported back to the hub."""
    for work in works:
        for manifest in work.status.manifest_conditions:
            back = manifest.back_reported_status
            if back and back.observed_status and _key(manifest.identifier) == _key(entry):
                yield from islice(_complaints(back.observed_status), DIFFERENCES_NAMED)


def _complaints(observed: dict[str, Any]) -> Iterator[str]:
    for each in observed.get("status", {}).get("conditions") or []:
        bad = "True" if each.get("type") in _BAD_WHEN_TRUE else "False"
        if each.get("status") == bad:
            said = each.get("message") or each.get("reason", "")
            yield f"its condition {each['type']} is {bad}: {said}"


def _difference(detail: PatchDetail) -> str:
    member, hub = _value(detail.value_in_member), _value(detail.value_in_hub)
    return f"{detail.path} is {member} on the member, {hub} on the hub"


def _value(text: str) -> str:
    if not text:
        return "absent"
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


def _key(entry: ResourceIdentifier | WorkResourceIdentifier) -> tuple[str, str, str, str]:
    return entry.group, entry.kind, entry.namespace, entry.name
