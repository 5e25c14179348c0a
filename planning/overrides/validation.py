"""Overrides that the API server accepts although they are not valid.

KubeFleet rejects them in a webhook. fleetgate has none: it keeps using the last valid snapshot of
the override, and reports this in an event.

contract: placement 9 (path rules and messages)
"""

from collections.abc import Iterator

from api.overrides import (
    ClusterResourceOverride,
    OverrideRule,
    OverrideType,
    ResourceOverride,
)
from api.placements import ResourceSelector
from planning import selectors
from planning.overrides import paths


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
        refused = paths.refusal(patch)
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
