"""Runs with thousands of clusters stay well within Temporal's limits."""

import json
import random
from datetime import timedelta
from typing import Final

import pytest

from api.rollout_reports import PolicyField
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage
from workflows.update_run import LEAST_EVENTS

CLUSTERS: Final = 3_000
LARGEST_WRITE: Final = 64 * 1024
"""Limit in bytes for all writes but the first, which contains the whole plan."""
SLOW: Final = (400, 600)
"""Minimum and maximum seconds that a cluster takes; after 300 it is stuck."""
MOST_EVENTS: Final = 10_000
MOST_BYTES: Final = 10 * 1024 * 1024
"""Limits for one execution: a fifth of Temporal's."""


def check(run: SimulatedRun, names: list[str]) -> None:
    """Check that everything was done once, in order, in short executions and small writes."""
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.handed_out == run.updated == names
    histories = [each.history for each in run.temporal.executions]
    assert max(each.events for each in histories) < MOST_EVENTS
    assert max(each.size for each in histories) < MOST_BYTES
    sizes = [each.size for each in run.activities.writes]
    assert max(sizes[1:]) < LARGEST_WRITE
    assert run.activities.most_writes_at_once == 1


def slow(begin: Begin, clusters: int, at_once: int | str, limits: Limits) -> SimulatedRun:
    """Complete a run with one stage in which no two clusters are done at the same moment."""
    names, draw = many(clusters), random.Random(7)
    run = begin(
        stage("one", *names, max_concurrency=at_once),
        takes=lambda _: draw.uniform(*SLOW),
        limits=limits,
        replays=False,
    )
    check(run, names)
    return run


@pytest.mark.parametrize("at_once", [1, 20, "100%"])
def test_a_long_stage_of_slow_clusters_takes_several_executions(
    begin: Begin, at_once: int | str
) -> None:
    soon = Limits(suggest_events=LEAST_EVENTS)
    run = slow(begin, 300, at_once, soon)
    assert len(run.temporal.executions) > 2
    assert run.activities.most_in_flight == {1: 1, 20: 20, "100%": 300}[at_once]


@pytest.mark.long("it simulates 90,000 events")
@pytest.mark.parametrize("at_once", [1, 20, "50%"])
def test_a_stage_of_three_thousand_slow_clusters_completes(
    begin: Begin, at_once: int | str
) -> None:
    slow(begin, CLUSTERS, at_once, Limits())


def test_three_thousand_clusters_in_one_stage_use_little_of_the_history(begin: Begin) -> None:
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


# -- with a rollout policy -----------------------------------------------------------------


BUDGETED: Final = 1_000
RULES: Final = RunRules(
    default=StageRules(timeout=timedelta(minutes=10), retries=1, most="5%"),
    fields=[PolicyField(name="failures.most", value="5%", policy="p", generation=1)],
)
MOST_EVENTS_IN_ALL: Final = 20_000
LARGEST_REPORT: Final = 256 * 1024


def failing(begin: Begin, number: int) -> SimulatedRun:
    """Begin a run of a thousand clusters, of which so many never finish."""
    names, draw = many(BUDGETED), random.Random(7)
    broken = set(names[:: BUDGETED // number][:number])
    return begin(
        stage("one", *names, max_concurrency=100),
        takes=lambda cluster: 10**9 if cluster in broken else draw.uniform(20, 60),
        rules=RULES,
        replays=False,
    )


def check_cost(run: SimulatedRun) -> None:
    """Check that the run's history and its report are within the limits."""
    assert run.temporal.events < MOST_EVENTS_IN_ALL
    assert max(each.history.events for each in run.temporal.executions) < MOST_EVENTS
    assert max(len(json.dumps(each.to_wire())) for each in run.hub.reports) < LARGEST_REPORT
    sizes = [each.size for each in run.activities.writes]
    assert max(sizes[1:]) < LARGEST_WRITE


def test_a_thousand_clusters_of_which_as_many_fail_as_may_succeed(begin: Begin) -> None:
    run = failing(begin, 50)
    outcome = run.outcome()
    assert outcome.message.startswith("All stages are completed; 50 clusters failed, see ")
    assert run.hub.reports[-1].failed == 50
    check_cost(run)


def test_a_thousand_clusters_of_which_one_more_fails_pause(begin: Begin) -> None:
    run = failing(begin, 51)
    run.until_phase(Phase.PAUSED)
    assert "51 of the 1000 clusters of stage one failed" in run.progressing.message
    assert run.hub.reports[-1].failed == 51
    check_cost(run)
