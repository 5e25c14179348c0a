"""The judge of the fault campaign finds every violation, and nothing else."""

from collections.abc import Callable

import pytest

from tests.soak.judging import RULES, judge
from tests.soak.made_up import AFTER_TWO, BEFORE_ONE, STORY, Step, told
from tests.soak.orders import End

Change = Callable[[list[Step]], list[Step]]


def without(*steps: Step) -> Change:
    """Return a change that removes steps from a story."""
    return lambda story: [each for each in story if each not in steps]


def moved(step: Step, *, before: Step) -> Change:
    """Return a change that moves a step to an earlier place in a story."""

    def change(story: list[Step]) -> list[Step]:
        rest = [each for each in story if each != step]
        place = rest.index(before)
        return [*rest[:place], step, *rest[place:]]

    return change


def then(step: Step, *more: Step) -> Change:
    """Return a change that adds steps after a step of a story."""

    def change(story: list[Step]) -> list[Step]:
        place = story.index(step) + 1
        return [*story[:place], *more, *story[place:]]

    return change


def test_a_correct_run_has_no_violations() -> None:
    assert judge(told(STORY)) == []


def test_repeating_a_write_with_the_same_content_is_no_violation() -> None:
    assert judge(told(then(("begin", "a"), ("spec", "a", "2"))(STORY))) == []


def test_stopping_a_run_between_two_clusters_is_no_violation() -> None:
    story = then(("finish", "a"), ("stop",), ("stopped",), ("go",))(STORY)
    assert judge(told(story)) == []


def test_deleting_a_run_in_progress_is_no_violation() -> None:
    story = [*STORY[: STORY.index(("begin", "c"))], ("remove",)]
    assert judge(told(story, end=End.DELETED)) == []


def test_overtaking_a_run_is_no_violation() -> None:
    text = "cannot continue: see if there is a concurrent updateRun referencing the same placement"
    story = [*STORY[: STORY.index(("finish", "a"))], ("spec", "a", "3"), ("fail", text)]
    assert judge(told(story, end=End.OVERTAKEN)) == []


WRONG: dict[str, list[Change]] = {
    "ends as asked": [
        without(("done",)),
        lambda story: [*story[:-1], ("fail", "some error")],
    ],
    "each binding once": [
        then(("finish", "a"), ("spec", "a", "1"), ("spec", "a", "2")),
        without(("begin", "f"), ("finish", "f")),
    ],
    "content never goes back": [then(("finish", "c"), ("spec", "b", "1"))],
    "stage by stage": [moved(("begin", "c"), before=("finish", "b"))],
    "clusters in turn": [moved(("begin", "e"), before=("begin", "c"))],
    "maxConcurrency": [
        moved(("begin", "e"), before=("finish", "c")),
        moved(("begin", "b"), before=("finish", "a")),
    ],
    "gates hold": [
        moved(("begin", "a"), before=("approve", BEFORE_ONE)),
        moved(("begin", "f"), before=("approve", AFTER_TWO)),
        moved(("stage done", "two"), before=("approve", AFTER_TWO)),
        moved(("begin", "c"), before=("wait", "3")),
        moved(("stage done", "one"), before=("wait", "3")),
    ],
    "nothing while stopped": [then(("finish", "a"), ("stop",), ("stopped",))],
    "no approval lost": [
        then(("accept", AFTER_TWO), ("withdraw", AFTER_TWO)),
        then(("accept", AFTER_TWO), ("lose", AFTER_TWO)),
        without(("accept", AFTER_TWO)),
    ],
    "asked once": [then(("ask", AFTER_TWO), ("lose", AFTER_TWO), ("ask", AFTER_TWO))],
    "the world is as said": [
        then(("done",), ("spec", "d", "1")),
        then(("finish", "d"), ("spec", "d", "3")),
        then(("done",), ("send", "example/app:v1")),
    ],
    "the plan is as asked": [then(("finish", "b"), ("reorder",))],
    "only known conditions": [
        then(("begin", "b"), ("say", "b", "Started", "False", "ClusterUpdatingStarted")),
        then(("begin", "b"), ("say", "b", "Paused", "True", "Whatever")),
    ],
    "status never goes back": [
        then(("finish", "b"), ("unsay", "b", "Succeeded")),
        then(("finish", "b"), ("say", "b", "Succeeded", "False", "ClusterUpdatingFailed")),
    ],
    "times stay": [
        then(("wait", "3"), ("say", "b", "Started", "True", "ClusterUpdatingStarted")),
    ],
    "all conditions at the end": [
        without(("stage done", "three")),
        without(("waited", "one")),
        then(("done",), ("unsay", "f", "Started")),
    ],
}


@pytest.mark.parametrize(
    ("rule", "change"),
    [(rule, change) for rule, changes in WRONG.items() for change in changes],
)
def test_each_violation_is_found(rule: str, change: Change) -> None:
    assert rule in {each.rule for each in judge(told(change(STORY)))}


def test_every_rule_is_tested_with_a_violation() -> None:
    assert WRONG.keys() == RULES.keys()


def test_a_deleted_run_that_still_exists_is_found() -> None:
    assert "ends as asked" in {each.rule for each in judge(told(STORY, end=End.DELETED))}
