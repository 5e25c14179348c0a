"""The ledger's patches keep the status on the hub up to date (decision record 0002)."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from api.runs import ClusterStatus, UpdateRunStatus
from planning.runs import marks
from planning.runs.ledger import DELETION, Ledger
from tests.planning import json_patch
from tests.planning.run_samples import APPROVAL, LATER, NOW, WAIT, ledger, stage


def full() -> Ledger:
    """Return the ledger of a run with two stages, all kinds of gates and a cluster to remove."""
    gated = stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL])
    return ledger(gated, stage("empty", "dev"), leaving=("c",))


def mirrored() -> Ledger:
    """Return the same ledger, with everything written to the hub."""
    found = full()
    found.touch("")
    found.take_patch()
    return found


# -- any sequence of changes -------------------------------------------------------------------

Change = Callable[[Ledger, timedelta], None]


def change(mark: Callable[..., None], *arguments: object) -> Change:
    return lambda book, after: mark(book, *arguments, NOW + after)


def joining(index: int) -> Change:
    def join(book: Ledger, after: timedelta) -> None:
        name = f"z{sum(len(each.clusters) for each in book.stages)}"
        book.add_cluster(index, ClusterStatus(cluster_name=name))

    return join


CHANGES = {
    "run_initialized": change(marks.run_initialized),
    "run_progressing": change(marks.run_progressing),
    "run_stuck": change(marks.run_stuck, 0, ["a"]),
    "run_succeeded": change(marks.run_succeeded),
    "run_failed": change(marks.run_failed, "why"),
    "waiting before": change(marks.waiting, 0, "before"),
    "waiting after": change(marks.waiting, 0, "after"),
    "stopping": change(marks.stopping, 0),
    "stopped": change(marks.stopped, 0),
    "stopped in the deletion stage": change(marks.stopped, DELETION),
    "stage_started": change(marks.stage_started, 0),
    "stage_skipped": change(marks.stage_skipped, 1),
    "stage_succeeded": change(marks.stage_succeeded, 0),
    "stage_failed": change(marks.stage_failed, 1, "why"),
    "the deletion stage started": change(marks.stage_started, DELETION),
    "the deletion stage succeeded": change(marks.stage_succeeded, DELETION),
    "the first cluster started": change(marks.cluster_started, 0, 0),
    "the second cluster started": change(marks.cluster_started, 0, 1),
    "the first cluster left": change(marks.cluster_left, 0, 0, "why"),
    "a cluster joined the first stage": joining(0),
    "a cluster joined the empty stage": joining(1),
    "the last cluster started": lambda book, after: marks.cluster_started(
        book, 0, len(book.stage(0).clusters) - 1, NOW + after
    ),
    "the second cluster succeeded": change(marks.cluster_succeeded, 0, 1),
    "the first cluster failed": change(marks.cluster_failed, 0, 0, "why"),
    "a cluster is being removed": change(marks.cluster_started, DELETION, 0),
    "a cluster is removed": change(marks.cluster_succeeded, DELETION, 0),
    "a gate before opened": change(marks.gate_opened, 0, "before", 0),
    "a gate before passed": change(marks.gate_passed, 0, "before", 0),
    "a gate after opened": change(marks.gate_opened, 0, "after", 1),
    "a gate after passed": change(marks.gate_passed, 0, "after", 1),
    "a wait passed": change(marks.gate_passed, 0, "after", 0),
}
ENDS = {"run_succeeded", "run_failed"}


class MirrorMachine(RuleBasedStateMachine):
    """Changes in any order and patches at any time: a ledger that is not dirty matches the copy."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = full()
        # The run as it was created; the workflow's first write is the whole status.
        self.ledger.touch("")
        self.copy: dict[str, object] = {"metadata": {"generation": 1}}
        self.clock = timedelta(0)
        self.mirror()

    @rule(name=st.sampled_from(sorted(CHANGES)), pause=st.integers(0, 90))
    def change(self, name: str, pause: int) -> None:
        self.clock += timedelta(seconds=pause, microseconds=1)
        before = self.ledger.changes
        wire = self.ledger.status.to_wire()
        CHANGES[name](self.ledger, self.clock)
        if self.ledger.status.to_wire() != wire:
            assert self.ledger.dirty
            assert self.ledger.changes > before

    @rule(step=st.integers(-1, 2))
    def observe(self, step: int) -> None:
        self.ledger.observe(self.ledger.generation + step)

    @rule()
    def mirror(self) -> None:
        if self.ledger.dirty:
            # Through JSON, as it is sent.
            patch = json.loads(json.dumps(self.ledger.take_patch()))
            self.copy = json_patch.apply(self.copy, patch)
        assert not self.ledger.dirty

    @invariant()
    def the_copy_is_correct_unless_the_ledger_is_dirty(self) -> None:
        if not self.ledger.dirty:
            assert self.copy["status"] == self.ledger.status.to_wire()

    @invariant()
    def no_condition_observes_a_newer_generation_than_the_ledger(self) -> None:
        found = self.ledger.status.conditions
        assert all(each.observed_generation <= self.ledger.generation for each in found)

    def teardown(self) -> None:
        self.mirror()
        copied = UpdateRunStatus.from_wire(self.copy["status"])  # type: ignore[arg-type]
        assert copied.to_wire() == self.ledger.status.to_wire()


TestMirror = MirrorMachine.TestCase
TestMirror.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


# -- patches -----------------------------------------------------------------------------------


def test_a_new_ledger_is_not_dirty() -> None:
    assert not full().dirty


def test_a_patch_is_taken_once() -> None:
    book = mirrored()
    marks.run_progressing(book, NOW)
    assert book.take_patch()
    assert not book.dirty
    assert book.take_patch() == []


def test_the_whole_status_goes_in_one_operation() -> None:
    book = full()
    marks.run_initialized(book, NOW)
    marks.cluster_started(book, 0, 0, NOW)
    assert book.take_patch() == [{"op": "add", "path": "/status", "value": book.status.to_wire()}]


def test_a_patch_names_only_what_changed() -> None:
    book = mirrored()
    marks.cluster_started(book, 0, 1, NOW)
    marks.stage_started(book, 0, NOW)
    marks.gate_opened(book, 0, "before", 0, NOW)
    marks.gate_passed(book, 0, "after", 0, NOW)
    marks.cluster_started(book, DELETION, 0, NOW)
    marks.run_progressing(book, NOW)
    assert [(each["op"], each["path"]) for each in book.take_patch()] == [
        ("replace", "/status/stagesStatus/0/clusters/1"),
        ("add", "/status/stagesStatus/0/startTime"),
        ("add", "/status/stagesStatus/0/conditions"),
        ("add", "/status/stagesStatus/0/beforeStageTaskStatus"),
        ("add", "/status/stagesStatus/0/afterStageTaskStatus"),
        ("replace", "/status/deletionStageStatus/clusters/0"),
        ("add", "/status/conditions"),
    ]


def test_several_changes_of_one_cluster_are_one_operation() -> None:
    book = mirrored()
    marks.cluster_started(book, 0, 0, NOW)
    marks.cluster_succeeded(book, 0, 0, LATER)
    (operation,) = book.take_patch()
    assert [each["type"] for each in operation["value"]["conditions"]] == ["Started", "Succeeded"]


def test_a_patch_of_one_cluster_does_not_grow_with_the_stage() -> None:
    book = mirrored()
    cluster = book.stage(0).clusters[1]
    book.stage(0).clusters.extend(cluster.model_copy(deep=True) for _ in range(1000))
    marks.cluster_started(book, 0, 1, NOW)
    marks.stage_started(book, 0, NOW)
    assert len(json.dumps(book.take_patch())) < 2000


# -- changes of the status ---------------------------------------------------------------------


def test_marking_the_same_again_changes_nothing() -> None:
    book = mirrored()
    marks.run_progressing(book, NOW)
    marks.stage_started(book, 0, NOW)
    book.take_patch()
    before = book.changes
    marks.run_progressing(book, LATER)
    marks.stage_started(book, 0, LATER)
    assert not book.dirty
    assert book.changes == before
    assert book.stage(0).start_time == NOW


@pytest.mark.parametrize("end", sorted(ENDS))
def test_nothing_changes_after_the_end_of_the_run_is_marked(end: str) -> None:
    book = mirrored()
    CHANGES[end](book, timedelta(0))
    before = book.status.to_wire()
    for name in sorted(CHANGES.keys() - {"run_initialized"}):
        CHANGES[name](book, timedelta(1))
    book.observe(7)
    assert book.status.to_wire() == before


def test_all_conditions_observe_a_newer_generation() -> None:
    book = mirrored()
    for name in sorted(CHANGES.keys() - ENDS):
        CHANGES[name](book, timedelta(0))
    before = {each.type: each.last_transition_time for each in book.status.conditions}
    book.observe(7)
    text = json.dumps(book.take_patch())
    assert text.count('"observedGeneration": 7') == text.count('"observedGeneration"') > 15
    assert {each.type: each.last_transition_time for each in book.status.conditions} == before


def test_later_conditions_observe_the_newer_generation_too() -> None:
    book = mirrored()
    book.observe(2)
    marks.run_progressing(book, NOW)
    assert book.status.conditions[0].observed_generation == 2


def test_the_same_generation_changes_nothing() -> None:
    book = ledger(generation=3)
    marks.run_progressing(book, NOW)
    book.take_patch()
    book.observe(3)
    assert not book.dirty


def test_the_deletion_stage_is_addressed_by_its_own_index() -> None:
    book = full()
    assert [each.stage_name for each in book.stages] == ["prod", "empty"]
    assert book.stage(DELETION).stage_name == "kubernetes-fleet.io/deleteStage"
    assert [each.type for each in book.tasks(0, "after")] == ["TimedWait", "Approval"]
    assert book.task(0, "before", 0).approval_request_name == "v2-before-prod"
