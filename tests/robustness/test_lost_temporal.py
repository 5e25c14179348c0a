"""Temporal loses all its data: runs resume from their status on the hub, and repeat nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest
from temporalio.client import Client

from api.base import format_time
from api.kinds import SCOPES
from hub import Hub, Json
from tests.robustness.conftest import running_engine
from tests.robustness.journeys import Journey
from tests.support.conditions import condition_of
from tests.support.servers import PrivateApiServer
from tests.support.temporal_server import TemporalServer
from tests.workflows.runs import workflow_id
from workflows.plugin import connect

WAIT = timedelta(seconds=45)
"""Longer than it takes to lose Temporal and start it again, even on a busy machine."""


class Moment(NamedTuple):
    """The moment when Temporal is lost, and how the run finishes after that."""

    reach: Callable[[Journey], Awaitable[None]]
    go_on: Callable[[Journey], Awaitable[None]]
    approval: bool = False
    wait: str = ""


async def in_mid_stage(run: Journey) -> None:
    await run.begin()
    await run.half_of_stage_one()


async def from_mid_stage(run: Journey) -> None:
    await run.rest_of_stage_one()
    await run.update("two")


async def at_a_gate(run: Journey) -> None:
    await run.begin()
    await run.at_gate()


async def from_the_gate(run: Journey) -> None:
    await run.approved(f"{run.name}-before-two")
    await run.update("two")


async def at_a_wait(run: Journey) -> None:
    await run.begin()
    await run.update("one")
    await run.reaches("UpdateRunWaiting")


async def from_the_wait(run: Journey) -> None:
    await run.update("two")


async def while_it_stops(run: Journey) -> None:
    await in_mid_stage(run)
    await run.stop()
    await run.reaches("UpdateRunStopping")


async def from_stopping(run: Journey) -> None:
    await run.rest_of_stage_one()
    await run.resume_once_stopped()
    await run.update("two")


async def while_stopped(run: Journey) -> None:
    await at_a_gate(run)
    await run.stop()
    await run.reaches("UpdateRunStopped")


async def from_the_stop(run: Journey) -> None:
    await run.approved(f"{run.name}-before-two")
    await run.resume_once_stopped()
    await run.update("two")


async def in_the_deletion_stage(run: Journey) -> None:
    await run.prepare()
    await run.hold()
    await run.placement.create_run(run.name, run.name, index="0")
    await run.update("one")
    await run.update("two")
    await run.removes()


MOMENTS = {
    "mid": Moment(in_mid_stage, from_mid_stage),
    "gate": Moment(at_a_gate, from_the_gate, approval=True),
    "wait": Moment(at_a_wait, from_the_wait, wait=f"{WAIT.seconds}s"),
    "stops": Moment(while_it_stops, from_stopping),
    "stopped": Moment(while_stopped, from_the_stop, approval=True),
    "removes": Moment(in_the_deletion_stage, Journey.release),
}


def journeys(hub: Hub, name: str) -> list[tuple[Moment, Journey]]:
    """One run per moment and scope."""
    return [
        (
            moment,
            Journey(
                hub,
                SCOPES[scope],
                f"{name}-{word}-{scope[0]}",
                approval=moment.approval,
                wait=moment.wait,
            ),
        )
        for word, moment in MOMENTS.items()
        for scope in sorted(SCOPES)
    ]


@pytest.mark.long("a minute; tests/planning covers where a run resumes from its status")
async def test_runs_resume_from_the_hub_when_temporal_has_lost_everything(
    server: PrivateApiServer, hub: Hub, own_temporal: TemporalServer, unique: str
) -> None:
    found = journeys(hub, unique)
    client = await connect({"TEMPORAL_ADDRESS": own_temporal.address})
    # Worker and bridge keep running: they have to notice by themselves.
    async with running_engine(server.kubeconfig, client):
        await asyncio.gather(*(moment.reach(run) for moment, run in found))
        requests = {run.name: await run.approval_uids() for _, run in found}
        await own_temporal.lose_everything()
        await asyncio.gather(*(moment.go_on(run) for moment, run in found))
        # This also checks that each binding was written once.
        await asyncio.gather(*(run.succeeded() for _, run in found))
    for moment, run in found:
        told = await run.told()
        assert [told.count(each) for each in ("Initialized", "Adopted", "Succeeded")] == [1, 1, 1]
        assert told.count("StageStarted") == 2 + (moment is MOMENTS["removes"])
        assert await run.approval_uids() == requests[run.name], "an approval was requested again"
        if moment.wait:
            found_run = await run.read()
            waited(found_run, await waits(client, workflow_id(found_run, run.scope)))


async def waits(client: Client, workflow: str) -> list[datetime]:
    """The times at which a workflow's timers for timed waits were due."""
    times: dict[int, datetime] = {}
    found = []
    async for event in client.get_workflow_handle(workflow).fetch_history_events():
        times[event.event_id] = event.event_time.ToDatetime(UTC)
        if event.HasField("workflow_task_completed_event_attributes"):
            # Timers that it requests are relative to the start of the workflow task.
            started_event = event.workflow_task_completed_event_attributes.started_event_id
            times[event.event_id] = times[started_event]
        timer = event.timer_started_event_attributes
        if b"after the stage" in event.user_metadata.summary.data:
            asked = times[timer.workflow_task_completed_event_id]
            found.append(asked + timer.start_to_fire_timeout.ToTimedelta())
    return found


def waited(run: Json, until: list[datetime]) -> None:
    """Check that the wait had the right length, from its original start."""
    stage = run["status"]["stagesStatus"][0]
    begun = max(_time(each, "Succeeded") for each in stage["clusters"])
    over = _time(stage["afterStageTaskStatus"][0], "WaitTimeElapsed")
    due = _parsed(begun) + WAIT
    assert format_time(due) <= over
    # The API keeps whole seconds.
    assert all(abs(each - due) <= timedelta(seconds=1) for each in until)
    assert until or over > format_time(due), "it should have slept, but did not"


def _time(body: Json, kind: str) -> str:
    found: str = condition_of(body, kind)["lastTransitionTime"]
    return found


def _parsed(time: str) -> datetime:
    return datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
