"""Overrides that the API server accepts although they are not valid.

KubeFleet rejects them in a webhook. fleetgate has none: it keeps using the last valid snapshot of
the override, and reports this in an event. JSON patches are checked again when they are applied.

contract: placement 9 (path rules and messages)
"""

from collections.abc import Iterator
from typing import Final

from api.overrides import (
    ClusterResourceOverride,
    JsonPatchOverride,
    OverrideRule,
    OverrideType,
    PatchOperation,
    ResourceOverride,
)
from api.placements import ResourceSelector
from planning import selectors


def problems(override: ClusterResourceOverride | ResourceOverride) -> list[str]:
    """Return everything that has to be corrected, each with its field."""
    found: list[str] = []
    if isinstance(override, ClusterResourceOverride):
        found += _of_selectors(override.spec.cluster_resource_selectors)
    for position, rule in enumerate(override.spec.policy.override_rules):
        where = f"spec.policy.overrideRules[{position}]"
        found += [f"{where}{problem}" for problem in _of_rule(rule)]
    return found


def _of_selectors(terms: list[ResourceSelector]) -> Iterator[str]:
    for position, term in enumerate(terms):
        where = f"spec.clusterResourceSelectors[{position}]: "
        if term.label_selector is not None:
            yield f"{where}label selector is not supported for resource selection {_said(term)}"
        elif not term.name:
            yield f"{where}resource name is required for resource selection {_said(term)}"


def _said(term: ResourceSelector) -> str:
    """Return the selector's group, version, kind and name, as Go prints a struct."""
    return f"{{Group:{term.group} Version:{term.version} Kind:{term.kind} Name:{term.name}}}"


def _of_rule(rule: OverrideRule) -> Iterator[str]:
    yield from _of_clusters(rule)
    if rule.override_type == OverrideType.DELETE:
        if rule.json_patch_overrides:
            yield ": JSONPatchOverrides cannot be set when the override type is Delete"
        return
    if not rule.json_patch_overrides:
        yield ": JSONPatchOverrides cannot be empty"
    for position, patch in enumerate(rule.json_patch_overrides):
        refused = refusal(patch)
        if refused:
            yield f".jsonPatchOverrides[{position}] ({patch.op} {patch.path}): {refused}"


def _of_clusters(rule: OverrideRule) -> Iterator[str]:
    terms = rule.cluster_selector.cluster_selector_terms if rule.cluster_selector else []
    for position, term in enumerate(terms):
        where = f".clusterSelector.clusterSelectorTerms[{position}]: "
        if term.property_selector is not None or term.property_sorter is not None:
            yield f"{where}only labelSelector is supported"
        elif term.label_selector is None:
            yield f"{where}labelSelector is required"
        elif problem := selectors.problem(term.label_selector):
            yield f"{where}{problem}"


# -- the parts of an object that an override may change -----------------------------------

_OPEN_METADATA: Final = ("annotations", "labels")


def refusal(override: JsonPatchOverride) -> str:
    """Return why an override is not allowed; empty if it is.

    KubeFleet's webhook checks this when an override is written. A hub without it accepts the
    override, and an object must not turn into another one on its way to a member.
    """
    if override.op == PatchOperation.REMOVE and override.value is not None:
        return "remove operation cannot have value"
    return _refused_path(override.path)


def _refused_path(path: str) -> str:
    if not path:
        return "path cannot be empty"
    if not path.startswith("/"):
        return "path must start with /"
    parts = path[1:].split("/")
    if parts[0] in ("kind", "apiVersion"):
        return "cannot override typeMeta fields"
    if parts[0] == "status":
        return "cannot override status fields"
    if parts == ["metadata"]:
        return "cannot override field metadata"
    if parts[0] == "metadata" and parts[1] not in _OPEN_METADATA:
        return "cannot override metadata fields except annotations and labels"
    return "path cannot contain empty string" if "" in parts else ""
