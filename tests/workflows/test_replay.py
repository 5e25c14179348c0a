"""Recorded runs replay with today's workflow, and the gate that says so is not dead."""

import json
from base64 import b64decode, b64encode
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner
from temporalio.workflow import NondeterminismError

from tests.workflows.record import HISTORIES
from workflows.messages import WORKFLOW, Outcome, UpdateRunInput
from workflows.plugin import fleetgate_plugin

RECORDED = sorted(HISTORIES.glob("*.json"))


def read(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text())


def test_there_are_recorded_runs() -> None:
    assert RECORDED


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_recorded_run_replays(path: Path) -> None:
    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    await replayer.replay_workflow(read(path))


async def test_a_run_that_an_older_worker_began_goes_on_without_search_attributes() -> None:
    """A newer bridge may have started it: what its input says, the older worker did not know."""
    path = HISTORIES / "0001-first.json"
    recorded = json.loads(path.read_text())
    begun = recorded["events"][0]["workflowExecutionStartedEventAttributes"]
    (payload,) = begun["input"]["payloads"]
    start = json.loads(b64decode(payload["data"]))
    assert not start.get("searchable")
    payload["data"] = b64encode(json.dumps(start | {"searchable": True}).encode()).decode()

    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, recorded))


async def test_a_run_replays_after_its_search_attributes_were_removed_from_temporal() -> None:
    """Then Temporal no longer tells of them, also not in what is history."""
    path = HISTORIES / "0002-search-attributes.json"
    recorded = json.loads(path.read_text())
    begun = recorded["events"][0]["workflowExecutionStartedEventAttributes"]
    assert begun.pop("searchAttributes")["indexedFields"]

    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin()])
    await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, recorded))


@workflow.defn(name=WORKFLOW)
class Divergent:
    """Begins otherwise than every recorded run."""

    @workflow.run
    async def run(self, start: UpdateRunInput) -> Outcome:
        """Sleep, which no recorded run does first."""
        await workflow.sleep(timedelta(seconds=1))
        return Outcome(reason=start.run.name, message="")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_workflow_that_diverges_does_not_replay(path: Path) -> None:
    replayer = Replayer(
        workflows=[Divergent],
        data_converter=pydantic_data_converter,
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    with pytest.raises(NondeterminismError):
        await replayer.replay_workflow(read(path))
