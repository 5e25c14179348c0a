"""The author of a run's state, from its annotations."""

from typing import Any

import pytest

from api.base import ObjectMeta
from api.names import STATE_BY, STATE_COMMENT, STATE_GENERATION
from api.runs import RunState
from planning.runs import steering
from planning.runs.steering import Steered


def metadata(generation: int, **annotations: str) -> ObjectMeta:
    return ObjectMeta(name="run", generation=generation, annotations=annotations)


def test_annotations_about_the_last_change_count() -> None:
    said = {STATE_BY: "jane", STATE_COMMENT: "lunch", STATE_GENERATION: "3"}
    assert steering.last(metadata(3, **said)) == Steered("jane", "lunch")


@pytest.mark.parametrize("generation", ["2", "4", "", "three"])
def test_annotations_about_another_change_do_not_count(generation: str) -> None:
    said = {STATE_BY: "jane", STATE_COMMENT: "lunch", STATE_GENERATION: generation}
    assert steering.last(metadata(3, **said)) == Steered()
    assert steering.last(metadata(3)) == Steered()


def test_a_change_names_its_generation_and_removes_earlier_annotations() -> None:
    patch: Any = steering.change(metadata(3), RunState.STOP, by="jane", comment="")
    assert patch["spec"] == {"state": "Stop"}
    assert patch["metadata"]["annotations"] == {
        STATE_BY: "jane",
        STATE_COMMENT: None,
        STATE_GENERATION: "4",
    }
