"""Overrides that are not valid (contract: placement 9, path rules)."""

from typing import Any

import pytest

from api.overrides import ClusterResourceOverride, ResourceOverride
from planning.overrides.validation import problems

Json = dict[str, Any]
RULE = "spec.policy.overrideRules[0]"
PATCH = f"{RULE}.jsonPatchOverrides[0]"
ADD: Json = {"op": "add", "path": "/data/a", "value": "b"}
NAMESPACE: Json = {"group": "", "version": "v1", "kind": "Namespace", "name": "app"}


def rule(*patches: Json, **said: Any) -> Json:
    where: Json = {"clusterSelector": {"clusterSelectorTerms": []}}
    return where | ({"jsonPatchOverrides": list(patches)} if patches else {}) | said


def of_namespace(*rules: Json) -> list[str]:
    selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "cm"}
    spec = {"resourceSelectors": [selector], "policy": {"overrideRules": list(rules)}}
    body = {"metadata": {"name": "ro", "namespace": "app"}, "spec": spec}
    return problems(ResourceOverride.from_wire(body))


def of_cluster(selector: Json) -> list[str]:
    spec = {"clusterResourceSelectors": [selector], "policy": {"overrideRules": [rule(ADD)]}}
    return problems(ClusterResourceOverride.from_wire({"metadata": {"name": "cro"}, "spec": spec}))


@pytest.mark.parametrize(
    "good",
    [
        rule(ADD),
        rule(ADD, {"op": "remove", "path": "/metadata/labels/a"}),
        rule({"op": "add", "path": "/metadata/annotations", "value": {}}),
        rule({"op": "replace", "path": "/spec/kind", "value": "x"}),
        rule(overrideType="Delete"),
        rule(ADD, clusterSelector=None),
        rule(ADD, clusterSelector={"clusterSelectorTerms": [{"labelSelector": {}}]}),
    ],
)
def test_valid_overrides_have_no_problems(good: Json) -> None:
    assert of_namespace(good) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("", "path cannot be empty"),
        ("data/a", "path must start with /"),
        ("/kind", "cannot override typeMeta fields"),
        ("/apiVersion", "cannot override typeMeta fields"),
        ("/metadata", "cannot override field metadata"),
        ("/metadata/name", "cannot override metadata fields except annotations and labels"),
        ("/status/phase", "cannot override status fields"),
        ("/data//a", "path cannot contain empty string"),
        ("/", "path cannot contain empty string"),
    ],
)
def test_a_protected_path_is_named(path: str, text: str) -> None:
    assert of_namespace(rule(ADD | {"path": path})) == [f"{PATCH} (add {path}): {text}"]


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (rule(), f"{RULE}: JSONPatchOverrides cannot be empty"),
        (
            rule(ADD, overrideType="Delete"),
            f"{RULE}: JSONPatchOverrides cannot be set when the override type is Delete",
        ),
        (
            rule({"op": "remove", "path": "/data/a", "value": "b"}),
            f"{PATCH} (remove /data/a): remove operation cannot have value",
        ),
    ],
)
def test_a_contradictory_rule_is_rejected(bad: Json, text: str) -> None:
    assert of_namespace(bad) == [text]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ({}, "labelSelector is required"),
        (
            {"propertySorter": {"name": "p", "sortOrder": "Ascending"}},
            "only labelSelector is supported",
        ),
        (
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Has"}]}},
            '"Has" is not a valid label selector operator',
        ),
    ],
)
def test_clusters_are_picked_by_label_only(term: Json, text: str) -> None:
    bad = rule(ADD, clusterSelector={"clusterSelectorTerms": [{"labelSelector": {}}, term]})
    (problem,) = of_namespace(bad)
    assert problem == f"{RULE}.clusterSelector.clusterSelectorTerms[1]: {text}"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"name": ""}, "resource name is required for resource selection"),
        (
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            "label selector is not supported for resource selection",
        ),
    ],
)
def test_objects_are_selected_by_name_only(changed: Json, text: str) -> None:
    (problem,) = of_cluster(NAMESPACE | changed)
    assert problem.startswith(f"spec.clusterResourceSelectors[0]: {text} {{Group: Version:v1")
    assert of_cluster(NAMESPACE) == []


def test_every_problem_is_reported() -> None:
    bad = rule(ADD | {"path": ""}, ADD | {"path": "/status"})
    assert len(of_namespace(rule(ADD), bad, rule())) == 3
