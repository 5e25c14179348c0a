"""Adopting runs: progress read from a status, and statuses that cannot be resumed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.runs import ClusterStatus, RunState, UpdateRunSpec, UpdateRunStatus
from planning.errors import RunAborted
from planning.runs import adopting, marks
from planning.runs.adopting import Recalled
from planning.runs.facts import HubFacts
from planning.runs.gates import Side
from planning.runs.ledger import DELETION, Ledger, stage_of
from tests.planning.run_samples import APPROVAL, LATER, NOW, WAIT, binding, facts, ledger, stage

RUN, STOP, INITIALIZE = RunState.RUN, RunState.STOP, RunState.INITIALIZE
RECORDED = Path(__file__).parent / "data" / "recorded_statuses.yaml"


@cache
def recordings() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(RECORDED.read_text())
    return found


def known(status: UpdateRunStatus, state: RunState) -> HubFacts:
    """Return facts of a hub with a binding for each cluster of the stages."""
    names = [each.cluster_name for stage in status.stages_status for each in stage.clusters]
    spec = UpdateRunSpec(placement_name="web", staged_rollout_strategy_name="slow", state=state)
    return facts(spec=spec, bindings=[binding(each) for each in names])


def recalled(status: UpdateRunStatus, state: RunState = RUN) -> Recalled:
    found = known(status, state)
    return adopting.recall(status, found)


@dataclass(frozen=True)
class Case:
    stage: int
    waiting: Side | None = None
    in_flight: tuple[str, ...] = ()
    desired: RunState = RUN
    left: tuple[str, ...] = ()
    """Clusters of the stage that are still to be updated, in that order."""


CASES = {
    "initialized-not-started": Case(0, desired=INITIALIZE, left=("member2",)),
    "first-cluster-in-flight": Case(0, in_flight=("member2",), left=("member2",)),
    "waiting-after-staging-timed-wait": Case(0, "after"),
    "waiting-before-canary-approval": Case(1, "before", left=("member3", "member1")),
    "waiting-after-canary-approval": Case(1, "after"),
    "stopped-at-gate": Case(1, "before", desired=STOP, left=("member3", "member1")),
    "canary-first-in-flight": Case(1, in_flight=("member3",), left=("member3", "member1")),
    "stopped-with-one-of-two": Case(1, desired=STOP, left=("member1",)),
    # KubeFleet reports a run that is both stopping and stuck only as stuck.
    "ns-stuck-while-stopping": Case(0, in_flight=("member2",), left=("member2",)),
}


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=list(CASES))
def test_the_progress_of_a_run_is_read_from_its_status(name: str, case: Case) -> None:
    recording = recordings()[name]
    status = UpdateRunStatus.from_wire(recording["status"])
    found = recalled(status, RunState(recording["state"]))
    assert (found.stage, found.waiting, found.desired) == (case.stage, case.waiting, case.desired)
    assert tuple(found.in_flight) == case.in_flight
    at = status.stages_status[found.stage]
    assert tuple(at.clusters[each].cluster_name for each in adopting.open_clusters(at)) == case.left


def test_a_wait_started_when_the_last_cluster_was_done_even_if_the_run_was_stopped_since() -> None:
    book = running(stage(after_stage_tasks=[WAIT]))
    for position in (0, 1):
        done(book, position, at=NOW + timedelta(seconds=position))
    marks.waiting(book, 0, "after", NOW + timedelta(seconds=1))
    marks.stopping(book, 0, LATER)
    marks.stopped(book, 0, LATER)
    assert recalled(book.status, STOP).waiting_since == NOW + timedelta(seconds=1)


def test_clusters_in_flight_are_found_with_their_start_times() -> None:
    book = running(stage(max_concurrency=2))
    marks.cluster_started(book, 0, 0, NOW)
    marks.cluster_started(book, 0, 1, LATER)
    assert recalled(book.status).in_flight == {"a": NOW, "b": LATER}


def test_a_stage_recorded_as_done_is_not_done_before_its_clusters_are() -> None:
    book = running(stage(max_concurrency=2))
    marks.cluster_started(book, 0, 0, NOW)
    done(book, 1)
    # The status of many clusters that finish at once is written in several patches.
    marks.stage_succeeded(book, 0, NOW)
    assert (found := recalled(book.status)).stage == 0
    assert list(found.in_flight) == ["a"]


def test_after_all_stages_comes_the_deletion_stage() -> None:
    book = running(stage(), leaving=("c",))
    finish(book)
    marks.cluster_started(book, DELETION, 0, LATER)
    found = recalled(book.status)
    assert (found.stage, found.in_flight) == (DELETION, {"c": LATER})


def test_a_skipped_stage_is_done_without_its_gates() -> None:
    nobody = stage("nobody", "none", before_stage_tasks=[APPROVAL])
    book = running(nobody, stage())
    marks.stage_skipped(book, 0, NOW)
    assert recalled(book.status).stage == 1


def running(*stages: Any, leaving: tuple[str, ...] = ()) -> Ledger:
    others = ("c", "d") if stages[1:] == TWO[1:] else ()
    book = ledger(*stages, leaving=leaving, others=others)
    marks.run_initialized(book, NOW)
    marks.run_progressing(book, NOW)
    return book


def done(book: Ledger, position: int, *, index: int = 0, at: datetime = NOW) -> None:
    marks.cluster_started(book, index, position, at)
    marks.cluster_succeeded(book, index, position, at)


def finish(book: Ledger, *, index: int = 0) -> None:
    done(book, 0, index=index)
    done(book, 1, index=index)
    marks.stage_succeeded(book, index, NOW)


# -- clusters that people decided about -------------------------------------------------------


TWO = (stage("one"), stage("two", "other"))
"""Stages with the clusters a and b, and c and d."""


def retried(book: Ledger, position: int = 0, *, index: int = 0) -> None:
    """Let a cluster fail and be handed out again by a person."""
    marks.cluster_started(book, index, position, NOW)
    marks.cluster_timed_out(book, index, position, "too long", NOW)
    marks.cluster_retried(book, index, position, "by jane", NOW)


def test_a_cluster_handed_out_again_is_due_after_the_last_stage() -> None:
    book = running(*TWO)
    finish(book)
    retried(book)
    marks.cluster_started(book, 1, 0, LATER)
    found = recalled(book.status)
    assert (found.stage, found.in_flight) == (1, {"c": LATER})
    finish(book, index=1)
    found = recalled(book.status)
    assert (found.stage, found.in_flight) == (DELETION, {})
    assert adopting.due_again(book.status) == 0
    assert adopting.open_clusters(book.status.stages_status[0]) == [0]


def test_one_in_flight_is_found_in_its_stage() -> None:
    book = running(*TWO, leaving=("x",))
    finish(book)
    finish(book, index=1)
    retried(book)
    marks.cluster_started(book, 0, 0, LATER)
    found = recalled(book.status)
    assert (found.stage, found.in_flight) == (0, {"a": LATER})
    assert not adopting.has_begun(stage_of(book.status, DELETION))


def test_one_that_its_stage_is_to_hand_out_again_is_not_in_flight() -> None:
    book = running(stage(max_concurrency=1))
    retried(book)
    marks.cluster_started(book, 0, 1, LATER)
    found = recalled(book.status)
    assert (found.stage, found.in_flight) == (0, {"b": LATER})


def test_a_cluster_skipped_ahead_of_its_stage_does_not_begin_that() -> None:
    book = running(*TWO)
    marks.cluster_skipped(book, 1, 0, "by jane", NOW)
    marks.cluster_skipped(book, 1, 1, "by jane", NOW)
    marks.cluster_retried(book, 1, 1, "by jane", NOW)
    assert recalled(book.status).stage == 0
    assert adopting.open_clusters(book.status.stages_status[1]) == [1]


def test_gates_after_a_stage_stay_open_when_a_cluster_is_handed_out_again() -> None:
    book = running(stage(after_stage_tasks=[APPROVAL]))
    done(book, 1)
    marks.gate_opened(book, 0, "after", 0, NOW)
    retried(book)
    assert (found := recalled(book.status)).waiting == "after"
    assert found.stage == 0


# -- statuses that cannot be resumed ---------------------------------------------------------


def without_strategy(book: Ledger) -> None:
    book.status.staged_update_strategy_snapshot = None


def without_deletion_stage(book: Ledger) -> None:
    book.status.deletion_stage_status = None


def without_index(book: Ledger) -> None:
    book.status.resource_snapshot_index_used = ""


def without_a_stage(book: Ledger) -> None:
    book.status.stages_status.pop()


def renamed(book: Ledger) -> None:
    book.status.stages_status[0].stage_name = "other"


def without_a_gate(book: Ledger) -> None:
    book.status.stages_status[1].before_stage_task_status.clear()


def twice(book: Ledger) -> None:
    first, second = book.status.stages_status
    second.clusters.append(first.clusters[0])


def later_stage_begun(book: Ledger) -> None:
    marks.stage_started(book, 1, NOW)


def deletion_begun(book: Ledger) -> None:
    marks.stage_started(book, DELETION, NOW)


def gate_bypassed(book: Ledger) -> None:
    marks.gate_opened(book, 0, "before", 0, NOW)
    marks.cluster_started(book, 0, 0, NOW)


def wait_started_early(book: Ledger) -> None:
    marks.gate_passed(book, 0, "after", 0, NOW)


def too_many(book: Ledger) -> None:
    marks.gate_passed(book, 0, "before", 0, NOW)
    marks.cluster_started(book, 0, 0, NOW)
    marks.cluster_started(book, 0, 1, NOW)


def failed_stage(book: Ledger) -> None:
    marks.stage_failed(book, 0, "because", NOW)


def failed_cluster(book: Ledger) -> None:
    marks.cluster_failed(book, 0, 0, "because", NOW)


FORGERIES: dict[Callable[[Ledger], None], str] = {
    without_strategy: "the updateRun has nil updateStrategySnapshot",
    without_deletion_stage: "the updateRun has nil deletionStageStatus",
    without_index: "the updateRun has no apply strategy or no resource snapshot index",
    without_a_stage: "the number of stages in the updateRun has changed, new: 2, existing: 1",
    renamed: "index `0` stage name in the updateRun has changed, new: prod, existing: other",
    without_a_gate: "the tasks of stage `last` are not those of its strategy",
    twice: "cluster `a` appears in more than one stages",
    later_stage_begun: "the finished stage `1` is after the updating stage `0`",
    deletion_begun: "the delete stage is active, but there are still stages updating",
    gate_bypassed: "cluster `a` in the stage `prod` was started before the approval of the stage",
    wait_started_early: "the tasks after the stage `prod` began before its clusters were done",
    too_many: "the number of updating clusters `2` in the updating stage `prod` exceeds "
    "maxConcurrency `1`",
}
BEGINS = "cannot continue the updateRun: unexpected behavior which cannot be handled by the "


def planned_run() -> Ledger:
    first = stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT])
    return running(first, stage("last", "none", before_stage_tasks=[APPROVAL]))


@pytest.mark.parametrize(
    ("forge", "text"), FORGERIES.items(), ids=[each.__name__ for each in FORGERIES]
)
def test_a_status_that_the_engine_cannot_have_written_ends_the_run(
    forge: Callable[[Ledger], None], text: str
) -> None:
    book = planned_run()
    forge(book)
    with pytest.raises(RunAborted) as raised:
        recalled(book.status)
    assert str(raised.value).startswith(f"{BEGINS}controller: {text}")
    assert str(raised.value).endswith(
        "and its status cannot be resumed; nothing more was rolled out; create a new run"
    )


@pytest.mark.parametrize(
    ("fail", "text"),
    [
        (failed_stage, "the stage `prod` has failed, err: because"),
        (failed_cluster, "the cluster `a` in the stage prod has failed"),
    ],
)
def test_a_failed_run_stays_failed(fail: Callable[[Ledger], None], text: str) -> None:
    book = planned_run()
    fail(book)
    with pytest.raises(RunAborted, match=f"^cannot continue the updateRun: {text}$"):
        recalled(book.status)


def test_a_run_that_was_never_started_cannot_have_done_anything() -> None:
    book = planned_run()
    marks.waiting(book, 0, "before", NOW)
    with pytest.raises(RunAborted, match="the updateRun was never started, but its status says"):
        recalled(book.status, INITIALIZE)


# -- clusters that the run goes without ------------------------------------------------------


@pytest.mark.parametrize("mark", [marks.cluster_left, marks.cluster_skipped])
def test_a_cluster_that_a_later_stage_goes_without_has_not_begun(
    mark: Callable[..., None],
) -> None:
    book = ledger(stage("empty", "none"), stage(before_stage_tasks=[APPROVAL]))
    mark(book, 1, 0, "why", NOW)
    found = recalled(book.status)
    assert (found.stage, found.in_flight, found.waiting) == (0, {}, None)
    marks.stage_skipped(book, 0, NOW)
    found = recalled(book.status)
    assert (found.stage, found.in_flight, found.waiting) == (1, {}, None)
    mark(book, 1, 1, "why", NOW)
    marks.gate_opened(book, 1, "before", 0, NOW)
    assert recalled(book.status).waiting == "before"


def test_a_cluster_that_left_in_flight_is_not_waited_for() -> None:
    book = ledger(stage(max_concurrency=2))
    for position in (0, 1):
        marks.cluster_started(book, 0, position, NOW)
    marks.cluster_left(book, 0, 0, "why", LATER)
    assert list(recalled(book.status).in_flight) == ["b"]
    assert adopting.open_clusters(book.stage(0)) == [1]


def test_a_stage_may_have_grown() -> None:
    book = ledger(stage(max_concurrency=1))
    marks.cluster_started(book, 0, 0, NOW)
    book.add_cluster(0, ClusterStatus(cluster_name="z"))
    assert adopting.open_clusters(book.stage(0)) == [0, 1, 2]
    assert recalled(book.status).stage == 0
