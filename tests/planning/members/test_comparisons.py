"""Differences between hub and member, and how they are shown."""

from typing import Any

import pytest

from planning.members.comparisons import MOST_DETAILS, content_hash, differences

Json = dict[str, Any]


def shown(hub: Json, member: Json) -> list[Json]:
    return [each.to_wire() for each in differences(hub, member)]


@pytest.mark.parametrize(
    ("hub", "member", "expected"),
    [
        ({"a": "1"}, {"a": "1"}, []),
        (
            {"a": "1"},
            {"a": "2"},
            [{"path": "/data/a", "valueInHub": "1", "valueInMember": "2"}],
        ),
        ({"a": "1"}, {}, [{"path": "/data/a", "valueInHub": "1"}]),
        ({}, {"a": "1"}, [{"path": "/data/a", "valueInMember": "1"}]),
        ({"a": True}, {"a": 1}, [{"path": "/data/a", "valueInHub": "true", "valueInMember": "1"}]),
        (
            {"a": {"b": 1}},
            {"a": [1]},
            [{"path": "/data/a", "valueInHub": '{"b": 1}', "valueInMember": "[1]"}],
        ),
        (
            {"a": [{"x": 1}, 2]},
            {"a": [{"x": 3}]},
            [
                {"path": "/data/a/0/x", "valueInHub": "1", "valueInMember": "3"},
                {"path": "/data/a/1", "valueInHub": "2"},
            ],
        ),
        (
            {"a/b~c": ""},
            {},
            [{"path": "/data/a~1b~0c", "valueInHub": ""}],
        ),
    ],
)
def test_each_difference_has_a_pointer_and_both_values(
    hub: Json, member: Json, expected: list[Json]
) -> None:
    assert shown({"data": hub}, {"data": member}) == expected


def test_an_equal_value_elsewhere_does_not_hide_a_difference() -> None:
    found = shown({"data": {"a": "x"}}, {"data": {"b": "x"}})
    assert [each["path"] for each in found] == ["/data/a", "/data/b"]


def test_a_label_is_a_difference_of_its_own_even_if_the_other_side_has_no_labels() -> None:
    bare: Json = {"metadata": {"name": "a"}}
    labelled = {"metadata": {"name": "a", "labels": {"foo": "bar"}}}
    assert shown(bare, labelled) == [{"path": "/metadata/labels/foo", "valueInMember": "bar"}]
    assert shown(labelled, bare) == [{"path": "/metadata/labels/foo", "valueInHub": "bar"}]


def test_only_fields_that_users_set_are_compared() -> None:
    hub = {"metadata": {"name": "a", "labels": {"app": "x"}}, "spec": {"replicas": 1}}
    member: Json = {
        "metadata": {
            "name": "a",
            "uid": "1",
            "resourceVersion": "2",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{}],
            "ownerReferences": [{}],
            "finalizers": ["example.com/hold"],
            "annotations": {
                "deployment.kubernetes.io/revision": "1",
                "kubernetes-fleet.io/spec-hash": "x",
            },
            "labels": {"app": "x", "kubernetes.io/metadata.name": "a", "app.k8s.io/x": "y"},
        },
        "spec": {"replicas": 1},
        "status": {"replicas": 1},
    }
    assert shown(hub, member) == []
    member["metadata"]["labels"]["team"] = "z"
    assert shown(hub, member) == [{"path": "/metadata/labels/team", "valueInMember": "z"}]


def test_at_most_a_hundred_differences_are_listed() -> None:
    hub = {"data": {f"key{number:03}": "x" for number in range(MOST_DETAILS + 5)}}
    found = shown(hub, {"data": {}})
    assert [found[0]["path"], found[-1]["path"]] == ["/data/key000", "/data/key099"]


def test_the_content_of_a_secret_is_never_shown() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret"}
    found = shown(secret | {"data": {"a": "x"}, "type": "A"}, secret | {"data": {"a": "y"}})
    hidden = "(redacted for security reasons)"
    assert found == [
        {"path": "/data/a", "valueInHub": hidden, "valueInMember": hidden},
        {"path": "/type", "valueInHub": "A"},
    ]


@pytest.mark.parametrize(
    ("change", "is_content"),
    [
        ({"data": {"a": "2"}}, True),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"metadata": {"ownerReferences": [{"uid": "1"}]}}, True),
        ({"metadata": {"resourceVersion": "2", "managedFields": []}}, False),
        ({"status": {"phase": "x"}}, False),
    ],
)
def test_the_hash_changes_with_the_content_only(change: Json, is_content: bool) -> None:
    live = {"metadata": {"resourceVersion": "1"}, "data": {"a": "1"}}
    assert (content_hash(live | change) != content_hash(live)) is is_content
