"""How many clusters of a stage are updated at once."""

import random

import pytest

from planning.runs.concurrency import MOST
from planning.runs.phases import Phase
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import many, stage


@pytest.mark.parametrize(
    ("declared", "clusters", "at_once"),
    [
        (1, 5, 1),
        (2, 5, 2),
        (10, 4, 4),
        ("50%", 5, 2),
        ("1%", 5, 1),
        ("99%", 10, 9),
        ("100%", 7, 7),
    ],
)
def test_as_many_clusters_as_declared_are_updated_at_once_and_never_more(
    begin: Begin, declared: int | str, clusters: int, at_once: int
) -> None:
    draw = random.Random(7)
    run = begin(
        stage("one", *many(clusters), max_concurrency=declared),
        takes=lambda _: draw.uniform(1, 60),
    )
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.most_in_flight == at_once
    assert run.activities.handed_out == many(clusters)


@pytest.mark.parametrize("declared", [MOST + 100, "100%"])
def test_no_more_clusters_are_updated_at_once_than_temporal_allows(
    begin: Begin, declared: int | str
) -> None:
    clusters = many(MOST + 50)
    run = begin(stage("one", *clusters, max_concurrency=declared), takes=30, replays=False)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.most_in_flight == MOST
    assert run.activities.handed_out == clusters


def test_a_cluster_starts_whenever_another_one_is_done(begin: Begin) -> None:
    run = begin(stage("one", *many(6), max_concurrency=2))
    first, second, third, fourth, *_ = many(6)
    run.until_handed_out(first, second)
    run.wait(60)
    run.report(second)
    run.until_handed_out(third)
    run.wait(60)
    assert run.activities.handed_out == [first, second, third]
    run.report(third)
    run.until_handed_out(fourth)
    run.wait(60)
    assert run.activities.in_flight == {first, fourth}


@pytest.mark.parametrize("declared", [2, "40%"])
def test_stops_and_resumes_do_not_increase_the_number_of_clusters_in_flight(
    begin: Begin, declared: int | str
) -> None:
    run = begin(stage("one", *many(5), max_concurrency=declared), takes=30)
    for _ in range(3):
        run.wait(5)
        run.stop()
        run.wait(5)
        run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.most_in_flight == 2
    assert run.activities.handed_out == many(5)


def test_stages_do_not_overlap(begin: Begin) -> None:
    run = begin(
        stage("one", "a", "b", max_concurrency=2), stage("two", "c", "d", max_concurrency=2)
    )
    run.until_handed_out("a", "b")
    run.report("a")
    run.wait(60)
    assert run.activities.handed_out == ["a", "b"]
    assert run.phase is Phase.RUNNING
    run.report("b")
    run.until_handed_out("c", "d")
    assert run.activities.in_flight == {"c", "d"}
