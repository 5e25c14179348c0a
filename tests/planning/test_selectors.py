"""Label selectors match as in Kubernetes (contract: update-runs 7.5 c and d)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.selectors import LabelSelector, LabelSelectorRequirement
from planning import selectors

PROD = {"env": "prod", "tier": "1"}


def requires(key: str, operator: str, *values: str) -> LabelSelectorRequirement:
    return LabelSelectorRequirement(key=key, operator=operator, values=list(values))


def selector(*requirements: LabelSelectorRequirement, **labels: str) -> LabelSelector:
    return LabelSelector(match_labels=labels, match_expressions=list(requirements))


@pytest.mark.parametrize(
    ("selects", "labels", "matches"),
    [
        (None, PROD, False),
        (None, {}, False),
        (selector(), PROD, True),
        (selector(), {}, True),
        (selector(env="prod"), PROD, True),
        (selector(env="prod", tier="1"), PROD, True),
        (selector(env="prod", tier="2"), PROD, False),
        (selector(zone="x"), PROD, False),
        (selector(env=""), {}, False),
        (selector(env=""), {"env": ""}, True),
        (selector(requires("env", "In", "dev", "prod")), PROD, True),
        (selector(requires("env", "In", "dev")), PROD, False),
        (selector(requires("zone", "In", "x")), PROD, False),
        (selector(requires("env", "NotIn", "dev")), PROD, True),
        (selector(requires("env", "NotIn", "prod")), PROD, False),
        (selector(requires("zone", "NotIn", "x")), PROD, True),
        (selector(requires("env", "Exists")), PROD, True),
        (selector(requires("env", "Exists")), {"env": ""}, True),
        (selector(requires("zone", "Exists")), PROD, False),
        (selector(requires("env", "DoesNotExist")), PROD, False),
        (selector(requires("zone", "DoesNotExist")), PROD, True),
        (selector(requires("env", "Exists"), requires("tier", "In", "1")), PROD, True),
        (selector(requires("env", "Exists"), requires("tier", "In", "2")), PROD, False),
        (selector(requires("tier", "In", "1"), env="dev"), PROD, False),
    ],
)
def test_a_cluster_is_selected_when_all_parts_match(
    selects: LabelSelector | None, labels: dict[str, str], matches: bool
) -> None:
    assert selectors.matches(selects, labels) is matches
    assert selectors.problem(selects) is None


KEYS, VALUES = st.sampled_from("abc"), st.sampled_from(["", "x", "y"])
REQUIREMENTS = st.builds(
    LabelSelectorRequirement,
    key=KEYS,
    operator=st.sampled_from(["In", "NotIn"]),
    values=st.lists(VALUES, min_size=1, max_size=2),
) | st.builds(
    LabelSelectorRequirement, key=KEYS, operator=st.sampled_from(["Exists", "DoesNotExist"])
)
SELECTORS = st.builds(
    LabelSelector,
    match_labels=st.dictionaries(KEYS, VALUES, max_size=2),
    match_expressions=st.lists(REQUIREMENTS, max_size=3),
)


def naively(selects: LabelSelector, labels: dict[str, str]) -> bool:
    """Return the same, by trying each requirement in turn to find one that fails."""
    for key, value in selects.match_labels.items():
        if key not in labels or labels[key] != value:
            return False
    for each in selects.match_expressions:
        value_or_none = labels.get(each.key)
        if each.operator == "In" and value_or_none not in each.values:
            return False
        if each.operator == "NotIn" and value_or_none in each.values:
            return False
        if (each.operator, each.key in labels) in {("Exists", False), ("DoesNotExist", True)}:
            return False
    return True


@given(SELECTORS, st.dictionaries(KEYS, VALUES))
@settings(deadline=None)
def test_matching_agrees_with_trying_each_requirement_in_turn(
    selects: LabelSelector, labels: dict[str, str]
) -> None:
    assert selectors.matches(selects, labels) == naively(selects, labels)


@given(SELECTORS, st.dictionaries(KEYS, VALUES))
@settings(deadline=None)
def test_labels_that_the_selector_does_not_use_may_be_left_out(
    selects: LabelSelector, labels: dict[str, str]
) -> None:
    deciding = {key: labels[key] for key in selectors.keys(selects) if key in labels}
    assert selectors.matches(selects, deciding) == selectors.matches(selects, labels)


def test_a_missing_selector_uses_no_labels() -> None:
    assert selectors.keys(None) == set()


@pytest.mark.parametrize(
    ("selects", "says"),
    [
        (selector(requires("env", "Near", "x")), '"Near" is not a valid label selector operator'),
        (selector(requires("env", "In")), "for 'in', 'notin' operators, values set can't be empty"),
        (
            selector(requires("env", "NotIn")),
            "for 'in', 'notin' operators, values set can't be empty",
        ),
        (selector(requires("env", "Exists", "x")), "values set must be empty for exists"),
        (selector(requires("env", "DoesNotExist", "x")), "values set must be empty for exists"),
        (selector(requires("e n v", "Exists")), 'key: Invalid value: "e n v"'),
        (selector(requires("a/b/c", "Exists")), 'key: Invalid value: "a/b/c"'),
        (selector(requires("/env", "Exists")), 'key: Invalid value: "/env"'),
        (selector(requires("k" * 64, "Exists")), "key: Invalid value"),
        (selector(requires("p" * 254 + "/env", "Exists")), "key: Invalid value"),
        (selector(requires("env\n", "Exists")), "key: Invalid value"),
        (selector(requires("env", "In", "x y")), 'values[0][env]: Invalid value: "x y"'),
        (selector(requires("env", "In", "x\n")), "values[0][env]: Invalid value"),
        (selector(env="-x"), 'values[0][env]: Invalid value: "-x"'),
        (selector(env="v" * 64), "values[0][env]: Invalid value"),
    ],
)
def test_an_invalid_selector_is_explained(selects: LabelSelector, says: str) -> None:
    assert says in (selectors.problem(selects) or "")


@pytest.mark.parametrize(
    "key", ["env", "example.com/env", "a.b-c/d_e.f", "X", "k" * 63, "p" * 253 + "/env"]
)
def test_every_qualified_name_may_be_a_key(key: str) -> None:
    labels: dict[str, Any] = {key: "v" * 63}
    assert selectors.problem(LabelSelector(match_labels=labels)) is None
