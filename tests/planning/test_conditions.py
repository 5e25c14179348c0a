"""Conditions are read and set like metav1's (contract: update-runs 2.2)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.base import Condition
from planning import conditions
from tests.planning.run_samples import LATER, NOW


def made(**changed: Any) -> Condition:
    fields: dict[str, Any] = {
        "kind": "Progressing",
        "status": "True",
        "reason": "Going",
        "message": "It goes.",
        "generation": 1,
        "now": NOW,
    }
    return conditions.make(**fields | changed)


def test_a_condition_is_found_by_its_type() -> None:
    first, second = made(kind="A"), made(kind="B")
    assert conditions.find([first, second], "B") is second
    assert conditions.find([first, second], "C") is None


@pytest.mark.parametrize(
    ("status", "generation", "asked", "holds"),
    [
        ("True", None, "True", True),
        ("True", 3, "True", True),
        ("True", 2, "True", False),
        ("True", 4, "True", False),
        ("False", 3, "True", False),
        ("Unknown", 3, "True", False),
        ("False", 3, "False", True),
    ],
)
def test_a_condition_holds_by_status_and_generation(
    status: str, generation: int | None, asked: str, holds: bool
) -> None:
    there = [made(status=status, generation=3)]
    assert conditions.has(there, "Progressing", asked, generation=generation) is holds
    assert not conditions.has(there, "Succeeded", asked, generation=generation)


def test_a_time_is_in_whole_seconds_as_on_the_wire() -> None:
    found = made(now=NOW + timedelta(microseconds=999_999))
    assert found.last_transition_time == NOW
    assert found.to_wire()["lastTransitionTime"] == "2026-01-02T03:04:05Z"


def test_a_condition_of_a_new_type_is_added_at_the_end() -> None:
    there = [made(kind="A")]
    assert conditions.put(there, made(kind="B"))
    assert [each.type for each in there] == ["A", "B"]


def test_the_time_changes_with_the_status() -> None:
    there = [made()]
    assert conditions.put(there, made(status="False", now=LATER))
    assert there[0].last_transition_time == LATER


@pytest.mark.parametrize("changed", [{"reason": "Else"}, {"message": ""}, {"generation": 2}])
def test_the_time_stays_when_only_something_else_changes(changed: dict[str, Any]) -> None:
    there = [made()]
    assert conditions.put(there, made(now=LATER, **changed))
    assert there == [made(**changed)]


def test_setting_the_same_again_changes_nothing() -> None:
    there = [made()]
    assert not conditions.put(there, made(now=LATER))
    assert there == [made()]


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.sampled_from(["True", "False", "Unknown"])),
        max_size=20,
    )
)
@settings(deadline=None)
def test_each_type_exists_once_with_the_time_of_its_last_status_change(
    changes: list[tuple[str, str]],
) -> None:
    there: list[Condition] = []
    turned: dict[str, tuple[str, int]] = {}
    for second, (kind, status) in enumerate(changes):
        now = NOW + timedelta(seconds=second)
        conditions.put(there, made(kind=kind, status=status, now=now))
        if turned.get(kind, ("", 0))[0] != status:
            turned[kind] = (status, second)
    found = {each.type: (each.status, each.last_transition_time) for each in there}
    assert len(there) == len(found)
    assert found == {
        kind: (status, NOW + timedelta(seconds=second)) for kind, (status, second) in turned.items()
    }


def test_a_message_too_long_for_the_api_is_cut() -> None:
    fits, longer = "é" * 32768, "é" * 32769
    made = [
        conditions.make("A", "True", "R", text, generation=1, now=NOW).message
        for text in (fits, longer)
    ]
    assert made == [fits, "é" * 32767 + "…"]
