"""Client-side apply: which fields are removed, set and kept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning.members.three_way import merged, patch

Json = dict[str, Any]


def merge(live: Json, last: Json, wanted: Json, *, group: str = "") -> Json:
    return merged(live, last=last, wanted=wanted, group=group)


def pod(**spec: Any) -> Json:
    return {"spec": spec}


def named(*names: str, **more: Any) -> list[Json]:
    return [{"name": name, **more} for name in names]


@pytest.mark.parametrize(
    ("live", "last", "wanted", "desired"),
    [
        pytest.param({}, {}, {"a": "1"}, {"a": "1"}, id="a new field is added"),
        pytest.param({"a": "1"}, {"a": "1"}, {"a": "2"}, {"a": "2"}, id="a changed field is set"),
        pytest.param({"a": "x"}, {"a": "1"}, {"a": "1"}, {"a": "1"}, id="drift is undone"),
        pytest.param({"a": "1"}, {"a": "1"}, {}, {}, id="a field no longer wanted is removed"),
        pytest.param({"a": "x"}, {"a": "1"}, {}, {}, id="even if it was changed"),
        pytest.param({"b": "2"}, {"a": "1"}, {}, {"b": "2"}, id="fields of other writers stay"),
        pytest.param({"a": "1"}, {}, {}, {"a": "1"}, id="a field that was not applied stays"),
        pytest.param({"a": "1"}, {"a": "1"}, {"a": None}, {}, id="null means not wanted"),
        pytest.param(
            {"a": {"x": "1", "y": "2"}},
            {"a": {"x": "1"}},
            {"a": {"z": "3"}},
            {"a": {"y": "2", "z": "3"}},
            id="objects are merged field by field",
        ),
        pytest.param({"a": [1, 2]}, {"a": [1]}, {"a": [3]}, {"a": [3]}, id="lists are replaced"),
        pytest.param({"a": "1"}, {}, {"a": {"b": 1}}, {"a": {"b": 1}}, id="types may change"),
    ],
)
def test_three_versions_of_an_object(live: Json, last: Json, wanted: Json, desired: Json) -> None:
    assert merge({"data": live}, {"data": last}, {"data": wanted}) == {"data": desired}


@pytest.mark.parametrize(
    ("live", "last", "wanted", "order"),
    [
        ("a b", "a b", "a b", "a b"),
        ("a b", "a b", "a", "a"),
        ("a", "a", "a b", "a b"),
        ("proxy a b", "a b", "a b", "proxy a b"),
        ("a proxy b", "a b", "b a", "b proxy a"),
        ("proxy a", "a", "b", "proxy b"),
        ("a proxy", "", "a b", "a proxy b"),
    ],
)
def test_injected_containers_stay_where_they_are(
    live: str, last: str, wanted: str, order: str
) -> None:
    found = merge(
        pod(containers=named(*live.split())),
        pod(containers=named(*last.split())),
        pod(containers=named(*wanted.split())),
    )
    assert found == pod(containers=named(*order.split()))


def test_a_container_keeps_what_the_server_added_to_it() -> None:
    live = named("a", image="old", imagePullPolicy="Always", args=["x"])
    found = merge(
        pod(containers=live),
        pod(containers=named("a", image="old", args=["x"])),
        pod(containers=named("a", image="new")),
    )
    assert found == pod(containers=named("a", image="new", imagePullPolicy="Always"))


@pytest.mark.parametrize(
    ("group", "path"),
    [
        pytest.param("example.com", ("spec", "containers"), id="custom resource"),
        pytest.param("apiextensions.k8s.io", ("spec", "containers"), id="definition"),
        pytest.param("", ("spec", "tolerations"), id="list without a key"),
        pytest.param("networking.k8s.io", ("ingress", "ports"), id="ports of a rule"),
    ],
)
def test_other_lists_are_replaced_as_a_whole(group: str, path: tuple[str, str]) -> None:
    parent, field = path
    live = {parent: {field: named("mine", "others")}}
    wanted = {parent: {field: named("new")}}
    assert merge(live, {}, wanted, group=group) == wanted


@pytest.mark.parametrize("broken", [named("a", "a"), [{"value": "x"}], ["a"]])
def test_a_list_whose_items_have_no_unique_key_is_replaced(broken: list[Any]) -> None:
    wanted = pod(env=broken)
    assert merge(pod(env=named("a", "b")), {}, wanted) == wanted


def test_finalizers_of_other_writers_stay() -> None:
    def holding(*finalizers: str) -> Json:
        return {"metadata": {"finalizers": list(finalizers)}}

    found = merge(holding("others", "old"), holding("old"), holding("new"))
    assert found == holding("new", "others")


@pytest.mark.parametrize(
    ("live", "wanted", "desired"),
    [
        pytest.param(
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            {"type": "Recreate"},
            {"type": "Recreate"},
            id="another strategy",
        ),
        pytest.param(
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            {"type": "RollingUpdate"},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            id="the same strategy",
        ),
    ],
)
def test_mutually_exclusive_parts_do_not_both_stay(live: Json, wanted: Json, desired: Json) -> None:
    found = merge({"spec": {"strategy": live}}, {}, {"spec": {"strategy": wanted}}, group="apps")
    assert found == {"spec": {"strategy": desired}}


def test_a_volume_changes_its_source() -> None:
    live = pod(volumes=[{"name": "v", "emptyDir": {}}])
    wanted = pod(volumes=[{"name": "v", "configMap": {"name": "cm"}}])
    assert merge(live, pod(volumes=named("v")), wanted) == wanted


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), SCALARS.filter(lambda each: each is not None)),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | st.lists(inner, max_size=2)),
    max_leaves=8,
)


def patched(live: Any, change: Any) -> Any:
    """Apply a JSON merge patch (RFC 7386, section 2)."""
    if not isinstance(change, dict):
        return change
    result = dict(live) if isinstance(live, dict) else {}
    for name, value in change.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = patched(result.get(name), value)
    return result


@given(live=OBJECTS, desired=OBJECTS)
def test_the_patch_turns_the_object_into_the_desired_one(live: Json, desired: Json) -> None:
    assert patched(live, patch(live, desired)) == desired


@given(live=OBJECTS)
def test_an_object_that_is_already_as_desired_needs_no_patch(live: Json) -> None:
    assert patch(live, live) == {}


@given(live=OBJECTS, last=OBJECTS, wanted=OBJECTS)
def test_applying_twice_changes_nothing_more(live: Json, last: Json, wanted: Json) -> None:
    once = merge(live, last, wanted)
    assert merge(once, wanted, wanted) == once
