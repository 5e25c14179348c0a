"""Runs of thousands of clusters stay within what Temporal takes, with room to spare."""

import random
from typing import Final

import pytest

from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage

CLUSTERS: Final = 3_000
LARGEST_WRITE: Final = 64 * 1024
"""Bytes, of all writes but the first, which holds the whole plan."""
QUICK: Final = (20, 60)
"""Seconds that a cluster takes, from and to."""
SLOW: Final = (400, 600)
"""Longer than the five minutes after which a cluster is stuck."""


def events(begin: Begin, count: int, at_once: int | str, seconds: tuple[int, int]) -> int:
    """Events of a run of one stage in which no two clusters are done at the same moment."""
    draw = random.Random(7)
    run = begin(
        stage("one", *many(count), max_concurrency=at_once),
        takes=lambda _: draw.uniform(*seconds),
        replays=False,
    )
    run.outcome()
    return run.temporal.events


@pytest.mark.parametrize(
    ("at_once", "seconds", "possible"),
    [
        (1, QUICK, 3_000),
        (10, QUICK, 3_000),
        ("50%", QUICK, 3_000),
        # Less than the 3,000 that a status has room for.
        (1, SLOW, 1_700),
        (20, SLOW, 2_700),
    ],
)
def test_so_many_clusters_are_possible_in_one_stage(
    begin: Begin, at_once: int | str, seconds: tuple[int, int], possible: int
) -> None:
    few, more = 50, 100
    of_few, of_more = (events(begin, count, at_once, seconds) for count in (few, more))
    of_each = (of_more - of_few) / (more - few)
    assert of_few + of_each * (possible - few) < Limits().events


def check(run: SimulatedRun, names: list[str]) -> None:
    """See that everything was done once, in order, and in small writes."""
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.handed_out == run.updated == names
    sizes = [each.size for each in run.activities.writes]
    assert max(sizes[1:]) < LARGEST_WRITE
    assert run.activities.most_writes_at_once == 1


def test_three_thousand_clusters_in_one_stage_leave_much_room_in_the_history(begin: Begin) -> None:
    names, draw = many(CLUSTERS), random.Random(7)
    run = begin(
        stage("one", *names, max_concurrency="10%"),
        takes=lambda _: draw.randrange(20, 61, 10),
        replays=False,
    )
    check(run, names)
    assert run.activities.most_in_flight == CLUSTERS / 10
    assert run.temporal.events < Limits().events / 4


def test_three_thousand_clusters_in_many_stages_take_several_executions(begin: Begin) -> None:
    names, stages = many(CLUSTERS), 30
    size = CLUSTERS // stages
    run = begin(
        *(
            stage(f"s{each}", *names[each * size : (each + 1) * size], max_concurrency="25%")
            for each in range(stages)
        ),
        takes=30,
        searchable=True,
        replays=False,
    )
    check(run, names)
    assert run.activities.most_in_flight == size / 4
    lengths = [each.history.events for each in run.temporal.executions]
    assert len(lengths) > 2
    assert max(lengths) < Limits().suggest_events * 1.2
