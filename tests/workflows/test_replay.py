"""Recorded runs replay with the current workflow, and a divergent workflow does not."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner
from temporalio.workflow import NondeterminismError

from tests.workflows.record import HISTORIES, KINDS, VERSION
from workflows.messages import WORKFLOW, RunOutcome, UpdateRunInput
from workflows.plugin import fleetgate_plugin

RECORDED = sorted(HISTORIES.glob("*/*.json"))
RELEASE = re.compile(r"^## \[(\d+\.\d+\.\d+)\]", re.MULTILINE)


def name_of(path: Path) -> str:
    """Return the name of a recorded run."""
    return f"{path.parent.name}/{path.stem}"


def read(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text())


def releases() -> list[str]:
    """Return all released versions, and the next one."""
    changelog = Path(__file__).parents[2] / "CHANGELOG.md"
    return list(dict.fromkeys([VERSION, *RELEASE.findall(changelog.read_text())]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("release", releases())
def test_every_release_has_recorded_runs(release: str, kind: str) -> None:
    path = HISTORIES / release / f"{kind}.json"
    assert path.is_file(), "record them with `python -m tests.workflows.record`"


@pytest.mark.parametrize(
    ("kind", "met"),
    [
        ("eventful", "EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED"),
        ("eventful", "EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED"),
        ("eventful", "EVENT_TYPE_TIMER_FIRED"),
        ("eventful", 'name: "remove_cluster"'),
        ("eventful", 'name: "accept_approval"'),
        ("failed", "UpdateRunFailed"),
        ("long-1", "EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW"),
        ("long-2", "continued_execution_run_id"),
    ],
)
@pytest.mark.parametrize("release", releases())
def test_the_recorded_runs_of_a_release_cover_many_events(
    release: str, kind: str, met: str
) -> None:
    assert met in str(read(HISTORIES / release / f"{kind}.json").events)


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
async def test_a_recorded_run_replays(path: Path) -> None:
    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    await replayer.replay_workflow(read(path))


async def test_a_run_replays_after_its_search_attributes_were_removed_from_temporal() -> None:
    """Temporal then no longer returns them, not even in existing histories."""
    path = HISTORIES / "0.1.0" / "eventful.json"
    recorded = json.loads(path.read_text())
    begun = recorded["events"][0]["workflowExecutionStartedEventAttributes"]
    assert begun.pop("searchAttributes")["indexedFields"]

    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, recorded))


@workflow.defn(name=WORKFLOW)
class Divergent:
    """A workflow that starts differently from every recorded run."""

    @workflow.run
    async def run(self, start: UpdateRunInput) -> RunOutcome:
        """Start with a sleep, which no recorded run does."""
        await workflow.sleep(timedelta(seconds=1))
        return RunOutcome(reason=start.run.name, message="")


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
async def test_a_workflow_that_diverges_does_not_replay(path: Path) -> None:
    replayer = Replayer(
        workflows=[Divergent],
        data_converter=pydantic_data_converter,
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    with pytest.raises(NondeterminismError):
        await replayer.replay_workflow(read(path))


async def test_a_run_leaves_its_build_after_a_stage_when_there_is_a_newer_one() -> None:
    """The history says that a newer build is current, instead of suggesting to continue as new."""
    path = HISTORIES / VERSION / "long-1.json"
    recorded = json.loads(path.read_text())
    told = 0
    for event in recorded["events"]:
        started = event.get("workflowTaskStartedEventAttributes", {})
        if started.pop("suggestContinueAsNew", False):
            started["targetWorkerDeploymentVersionChanged"] = True
            told += 1
    assert told

    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, recorded))


async def test_a_run_stays_on_its_build_when_there_is_no_newer_one() -> None:
    path = HISTORIES / VERSION / "long-1.json"
    recorded = json.loads(path.read_text())
    for event in recorded["events"]:
        event.get("workflowTaskStartedEventAttributes", {}).pop("suggestContinueAsNew", None)

    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    with pytest.raises((NondeterminismError, RuntimeError), match=r"[Nn]ondeterminism|machines"):
        await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, recorded))
