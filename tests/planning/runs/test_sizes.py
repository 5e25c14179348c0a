"""A run that is too large is rejected before it starts, with advice."""

import json
from typing import Any

import pytest

from api.base import NamespacedName
from api.runs import ClusterStatus, UpdateRunStatus
from api.selectors import LabelSelector
from planning.errors import InitializationError
from planning.overrides.matching import ClusterOverrides
from planning.runs import initialization, marks, sizes
from planning.runs.facts import ClusterFact, HubFacts, SnapshotFacts
from planning.runs.initialization import Targets
from planning.runs.ledger import DELETION, Ledger
from tests.planning.run_samples import (
    APPROVAL,
    CLUSTER_RUN,
    NOW,
    WAIT,
    binding,
    cluster,
    facts,
    planned,
    stage,
    strategy,
)


def size(status: UpdateRunStatus) -> int:
    return len(json.dumps(status.to_wire(), separators=(",", ":")).encode())


def fleet(clusters: int, *, length: int = 63, stages: int = 1) -> HubFacts:
    """Return facts of so many clusters with names of that length, in the first stage."""
    names = [f"{number:0{length}}" for number in range(clusters)]
    declared = [
        stage(
            f"s{number}" + "x" * 60,
            "prod" if number == 0 else f"e{number}",
            before_stage_tasks=[APPROVAL],
            after_stage_tasks=[WAIT, APPROVAL],
        )
        for number in range(stages)
    ]
    return facts(
        bindings=[binding(name) for name in names],
        clusters=[cluster(name) for name in names],
        strategy=strategy(*declared),
    )


def done(book: Ledger) -> None:
    """Set every mark that a run sets until its end."""
    marks.run_initialized(book, NOW)
    marks.run_progressing(book, NOW)
    for index in [*range(len(book.stages)), DELETION]:
        marks.stage_started(book, index, NOW)
        for position in range(len(book.stage(index).clusters)):
            marks.cluster_started(book, index, position, NOW)
            marks.cluster_succeeded(book, index, position, NOW)
        marks.stage_succeeded(book, index, NOW)
    for index in range(len(book.stages)):
        marks.gate_opened(book, index, "before", 0, NOW)
        marks.gate_passed(book, index, "before", 0, NOW)
        marks.gate_passed(book, index, "after", 0, NOW)
        marks.gate_opened(book, index, "after", 1, NOW)
        marks.gate_passed(book, index, "after", 1, NOW)
    marks.run_succeeded(book, NOW)


@pytest.mark.parametrize(("clusters", "stages"), [(1, 1), (50, 1), (3, 31), (1000, 31)])
def test_the_final_size_of_a_status_is_known_from_the_plan(clusters: int, stages: int) -> None:
    status = planned(fleet(clusters, stages=stages))
    foreseen = sizes.largest(status)
    done(Ledger(status, generation=10_000))
    assert 0.9 * foreseen < size(status) <= foreseen


def test_31_stages_and_1000_clusters_with_63_character_names_are_not_too_large() -> None:
    status = planned(fleet(1000, stages=31))
    assert sizes.largest(status) < sizes.MOST_STATUS / 2


@pytest.mark.parametrize(("length", "most", "too_many"), [(63, 2900, 3000), (7, 3350, 3450)])
def test_the_largest_possible_number_of_clusters(length: int, most: int, too_many: int) -> None:
    planned(fleet(most, length=length))
    with pytest.raises(InitializationError):
        planned(fleet(too_many, length=length))


def refused(known: HubFacts) -> tuple[str, UpdateRunStatus]:
    status = UpdateRunStatus()
    with pytest.raises(InitializationError) as refusal:
        initialization.plan(known, run=CLUSTER_RUN, status=status)
    return str(refusal.value), status


def test_a_run_with_more_clusters_is_rejected_with_the_possible_number() -> None:
    text, _ = refused(fleet(5000))
    assert "the run is too large: its status would grow to" in text
    assert "divide the placement" in text
    possible = int(text.rpartition("at most about ")[2].split()[0])
    assert 2700 < possible < 3100
    planned(fleet(possible - 50))


def test_a_strategy_that_alone_fills_the_status_is_named_as_the_cause() -> None:
    many = {f"k{number:060}": "v" * 63 for number in range(11_000)}
    large = strategy(stage(label_selector=LabelSelector(match_labels=many)))
    labelled = [ClusterFact(name=name, labels=many) for name in "ab"]
    text, status = refused(facts(strategy=large, clusters=labelled))
    assert text.endswith("the copy of the strategy: give the strategy fewer or shorter selectors")
    sizes.cut(status)
    assert size(status) < 10_000


def test_results_from_before_an_error_stay_in_the_status_unless_too_large() -> None:
    _, status = refused(fleet(5000))
    before = status.model_copy(deep=True)
    sizes.cut(status)
    assert status == before

    _, status = refused(fleet(20_000))
    sizes.cut(status)
    assert size(status) < 10_000
    assert status.staged_update_strategy_snapshot is not None


@pytest.mark.parametrize(
    "names",
    [
        {"cluster_resource": ["o" * 250] * 100},
        {"resource": [NamespacedName(name="o" * 250, namespace="n" * 63)] * 100},
    ],
)
def test_overrides_count_as_well(names: Any) -> None:
    known = fleet(100)
    status = planned(known)
    overrides = [ClusterOverrides(cluster=each.name, **names) for each in known.clusters]
    snapshot = SnapshotFacts(index="1", name="web-1-snapshot", overrides=overrides)
    with pytest.raises(InitializationError, match="the run is too large"):
        initialization.record_snapshot(snapshot, status=status)


def test_facts_too_large_for_temporal_are_rejected_with_a_remedy() -> None:
    sizes.check_payload(fleet(3000), what="the facts", remedy="divide it")
    with pytest.raises(
        InitializationError,
        match=r"the run is too large: the facts are \d+ bytes, and Temporal accepts at most \d+: "
        r"divide it$",
    ):
        sizes.check_payload(fleet(9000), what="the facts", remedy="divide it")


def test_a_run_has_room_for_clusters_up_to_the_limit() -> None:
    def with_clusters(count: int) -> UpdateRunStatus:
        known = facts(
            bindings=[binding(f"c{each:04}") for each in range(count)],
            clusters=[cluster(f"c{each:04}") for each in range(count)],
        )
        return planned(known)

    status, targets = with_clusters(1000), Targets()
    room = sizes.room(status, targets=targets)
    entry = ClusterStatus(cluster_name="z0000")
    status.stages_status[0].clusters.append(entry)
    assert room - sizes.room(status, targets=targets) == sizes.grown(entry)
    assert sizes.room(status, targets=Targets(selected={"a": "x" * sizes.MOST_PAYLOAD})) < 0
