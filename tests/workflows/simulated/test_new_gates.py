"""A further kind of gate is one definition and one executor; everything else takes it as it is."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from temporalio import workflow

from api.runs import StageStatus, StageTaskStatus, UpdateRun
from api.strategies import StageTask
from planning import conditions
from planning.runs import estimating, views
from planning.runs import gates as definitions
from planning.runs.gates import GateKind, GateSide, OpenGate, Where
from planning.runs.phases import Phase
from starter import words
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows import gates as executors
from workflows.gates import GateExecutor

TIDE = StageTask(type="Tide")
LOW = timedelta(seconds=30)


class OpenTide(OpenGate):
    @property
    def what(self) -> str:
        return "low tide"


class Tide(GateKind):
    """Waits until the tide is out, before or after a stage."""

    type = "Tide"
    opened = ("TideAwaited", "Waiting", "the tide is in")
    passed = ("TideIsOut", "Out", "the tide is out")

    def problem(self, task: StageTask, side: GateSide) -> str | None:
        return "needs no waitTime" if task.wait_time else None

    def declared(self, task: StageTask) -> str:
        return "low tide"

    def open(
        self, entry: StageTaskStatus, task: StageTask, stage: StageStatus, side: GateSide
    ) -> OpenGate | None:
        asked = conditions.find(entry.conditions, "TideAwaited")
        if asked is None or self.is_passed(entry):
            return None
        return OpenTide(stage=stage.stage_name, side=side, since=asked.last_transition_time)

    def awaited(self, entry: StageTaskStatus, task: StageTask, where: Where) -> str:
        return "the tide to go out"


class WaitsForTide(GateExecutor):
    async def due(self) -> None:
        await workflow.sleep(LOW, summary="tide")
        await self.rollout.until_running()


@pytest.fixture(autouse=True)
def tides() -> Iterator[None]:
    """Know the kind for the time of a test."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(definitions.KINDS, "Tide", Tide())
        patched.setitem(executors.EXECUTORS, "Tide", WaitsForTide)
        yield


@pytest.fixture
def at_tide(begin: Begin) -> SimulatedRun:
    """A run that waits for low tide before its only stage."""
    run = begin(stage("one", "a", before_stage_tasks=[TIDE]), takes=10)
    run.until_phase(Phase.WAITING)
    return run


def seen(run: SimulatedRun) -> views.RunView:
    body = {"metadata": {"name": "v2"}, "spec": run.hub.spec.to_wire(), "status": run.status}
    return views.of(UpdateRun.model_validate(body | {"apiVersion": "v1", "kind": "Run"}))


def test_a_run_waits_at_it_and_continues(at_tide: SimulatedRun) -> None:
    assert at_tide.activities.handed_out == []
    assert at_tide.outcome().reason == "UpdateRunSucceeded"
    (entry,) = at_tide.stage().before_stage_task_status
    assert [each.type for each in entry.conditions] == ["TideAwaited", "TideIsOut"]


def test_it_stands_beside_other_gates_after_a_stage(begin: Begin) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[TIDE, APPROVAL]), takes=10)
    run.until_asked("v2-after-one")
    run.approve("v2-after-one")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_people_read_what_the_run_waits_for(at_tide: SimulatedRun) -> None:
    at_tide.wait(5)
    run, now = seen(at_tide), at_tide.timeline.now
    assert words.sentence(run, now) == "waiting for low tide before stage one"
    assert [str(each) for each in run.gates.open] == ["low tide before stage one"]
    (event,) = [each for each in at_tide.hub.events if each.reason == "Waiting"]
    assert event.message == "Waiting before stage one for the tide to go out"
    assert estimating.approvals_of(stage("one", before_stage_tasks=[TIDE]).stage) == 0


def test_a_lost_workflow_takes_it_up_again(at_tide: SimulatedRun) -> None:
    at_tide.temporal.lose_worker()
    at_tide.wait(5)
    assert at_tide.phase is Phase.WAITING
    assert at_tide.outcome().reason == "UpdateRunSucceeded"


def test_a_task_that_is_not_valid_is_refused(begin: Begin) -> None:
    late = TIDE.model_copy(update={"wait_time": "5m"})
    run = begin(stage("one", "a", after_stage_tasks=[late]))
    assert run.outcome().reason == "UpdateRunInitializedFailed"
    (initialized,) = run.status.conditions
    assert initialized.message.endswith("err: task 0 of type Tide needs no waitTime")
