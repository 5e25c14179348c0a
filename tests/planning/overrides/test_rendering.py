"""Content for one cluster, with overrides applied (contract: placement 9 and 6)."""

from typing import Any

import pytest

from planning.overrides.rendering import OverrideError
from tests.planning.overrides.snapshots import (
    CONFIG_MAP,
    NAMESPACE,
    REMOVED_NOTHING,
    Json,
    cro,
    failure,
    patch,
    render,
    ro,
    rule,
)


def test_without_overrides_the_content_stays() -> None:
    assert render() == [NAMESPACE, CONFIG_MAP]


def test_an_override_of_a_namespace_applies_to_everything_in_it() -> None:
    note = {"note": "x"}
    namespace, config_map = render(cro(rule(patch("/metadata/annotations", note))))
    assert namespace["metadata"] == {"name": "app", "annotations": note}
    assert config_map["metadata"]["annotations"] == note
    assert "annotations" not in CONFIG_MAP["metadata"], "the snapshot's own object stays"


def test_a_namespaced_override_comes_after_all_cluster_scoped_ones() -> None:
    path = "/metadata/labels/tier"
    _, config_map = render(
        ro(rule(patch(path, "ro"))),
        cro(rule(patch("/metadata/labels", {})), rule(patch(path, "b")), name="b"),
        cro(rule(patch("/metadata/labels", {})), rule(patch(path, "a")), name="a"),
    )
    assert config_map["metadata"]["labels"] == {"tier": "ro"}


def test_every_rule_that_matches_is_applied_in_order() -> None:
    nowhere = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"region": "us"}}}]}
    by_name = {"kubernetes-fleet.io/member-name": "a"}
    here = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": by_name}}]}
    _, config_map = render(
        ro(
            rule(patch("/data/a", "1")),
            rule(patch("/data/a", "never"), where=nowhere),
            rule(patch("/data/b", "never"), where=None),
            rule(patch("/data/a", "2"), patch("/data/secret", op="remove"), where=here),
        )
    )
    assert config_map["data"] == {"a": "2"}


def test_another_namespaces_override_changes_nothing() -> None:
    assert render(ro(rule(), namespace="other")) == [NAMESPACE, CONFIG_MAP]


def test_a_delete_rule_leaves_the_object_out_whatever_rules_follow() -> None:
    broken = rule(patch("/data/x/y", ""))
    assert render(ro(rule(), broken)) == [NAMESPACE]
    assert render(cro(rule()), ro(broken)) == []


def test_variables_are_replaced_anywhere_in_a_value() -> None:
    value = {
        "${MEMBER-CLUSTER-NAME}": ["${MEMBER-CLUSTER-NAME}-${MEMBER-CLUSTER-LABEL-KEY-region}"],
        "name": "${MEMBER-CLUSTER-LABEL-KEY-kubernetes-fleet.io/member-name}",
        "other": "${HOME} ä",
    }
    (config_map,) = render(ro(rule(patch("/data", value))), resources=(CONFIG_MAP,))
    assert config_map["data"] == {"a": ["a-eu"], "name": "a", "other": "${HOME} ä"}


@pytest.mark.parametrize("value", [None, {"inner": None}, [None], False, 0, ""])
def test_an_empty_or_null_value_is_a_value(value: Any) -> None:
    (added,) = render(ro(rule(patch("/data/k", value))), resources=(CONFIG_MAP,))
    (replaced,) = render(ro(rule(patch("/data/secret", value, "replace"))), resources=(CONFIG_MAP,))
    assert added["data"] == CONFIG_MAP["data"] | {"k": value}
    assert replaced["data"] == {"secret": value}


def test_an_operation_without_a_value_sets_null() -> None:
    said = {"op": "add", "path": "/data/k"}
    (added,) = render(ro(rule(said)), resources=(CONFIG_MAP,))
    assert added["data"]["k"] is None


def test_lists_and_escaped_keys_are_addressed_as_in_the_standard() -> None:
    (changed,) = render(
        ro(
            rule(
                patch("/data", ["b"]),
                patch("/data/-", "c"),
                patch("/data/0", "a"),
                patch("/metadata/annotations", {}),
                patch("/metadata/annotations/example.com~1a", "x"),
            )
        ),
        resources=(CONFIG_MAP,),
    )
    assert changed["data"] == ["a", "b", "c"]
    assert changed["metadata"]["annotations"] == {"example.com/a": "x"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            patch("/data/x/y", "v"),
            'add operation does not apply: doc is missing path: "/data/x/y": missing value',
        ),
        (
            patch("/data/secret/0/y", "v"),
            'add operation does not apply: doc is missing path: "/data/secret/0/y": missing value',
        ),
        (
            patch("/data/x/y", op="remove"),
            'remove operation does not apply: doc is missing path: "/data/x/y": missing value',
        ),
        (
            patch("/data/x", op="remove"),
            REMOVED_NOTHING,
        ),
        (
            patch("/data/x/y", "v", "replace"),
            "replace operation does not apply: doc is missing path: /data/x/y: missing value",
        ),
        (
            patch("/data/x", "v", "replace"),
            "replace operation does not apply: doc is missing key: /data/x: missing value",
        ),
        (
            patch("/data/x", "${MEMBER-CLUSTER-LABEL-KEY-zone}"),
            "label key zone not found on cluster a",
        ),
        (
            patch("/data/x", "${MEMBER-CLUSTER-LABEL-KEY-zone"),
            'input "${MEMBER-CLUSTER-LABEL-KEY-zone" is missing the closing bracket `}`',
        ),
        (patch("", {}), "path cannot be empty"),
        (patch("data/x", ""), "path must start with /"),
        (patch("/kind", "Secret"), "cannot override typeMeta fields"),
        (patch("/apiVersion", "v2"), "cannot override typeMeta fields"),
        (patch("/metadata", {}), "cannot override field metadata"),
        (
            patch("/metadata/name", "b"),
            "cannot override metadata fields except annotations and labels",
        ),
        (patch("/status/phase", ""), "cannot override status fields"),
        (patch("/data//x", ""), "path cannot contain empty string"),
        (
            {"op": "remove", "path": "/data/x", "value": "v"},
            "remove operation cannot have value",
        ),
    ],
)
def test_an_error_does_not_quote_the_object(change: Json, text: str) -> None:
    said = failure(change)
    assert said == text
    assert "s3cret" not in said


def test_an_error_names_a_cluster_scoped_override() -> None:
    with pytest.raises(OverrideError) as caught:
        render(cro(rule(patch("/spec/x", ""))))
    assert str(caught.value) == (
        'ClusterResourceOverrideSnapshot "cro-0" failed to apply on Namespace "app" in namespace'
        ' "": add operation does not apply: doc is missing path: "/spec/x": missing value'
    )


def test_the_error_of_an_invalid_selector_does_not_mention_runs() -> None:
    wrong = {"matchExpressions": [{"key": "env", "operator": "Like"}]}
    where = {"clusterSelectorTerms": [{"labelSelector": wrong}]}
    with pytest.raises(OverrideError) as caught:
        render(ro(rule(patch("/data/a", "1"), where=where)))
    assert str(caught.value) == (
        'ResourceOverrideSnapshot "ro-0" failed to apply on ConfigMap "cm" in namespace "app": '
        "unexpected behavior which cannot be handled by the controller: invalid cluster label "
        "selector of ResourceOverrideSnapshot `app/ro-0`: "
        '"Like" is not a valid label selector operator'
    )
