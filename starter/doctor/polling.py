"""Check of the workers: who polls the task queue, and whether work waits there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio.api.enums.v1 import TaskQueueType, WorkerVersioningMode
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client

from hub import HubError
from starter import words
from starter.doctor import reaching
from starter.doctor.findings import Finding, ok, problem, warning
from starter.doctor.setup import Command, Setup

GONE: Final = timedelta(seconds=100)
"""A poll lasts a minute at most, and the next one follows at once. Temporal remembers a worker
for minutes after it has died."""
BACKLOG: Final = timedelta(seconds=30)
"""Work that waits for longer is not taken by anybody in time."""
_KINDS: Final = {
    "workflows": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    "activities": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
}


@dataclass(frozen=True, slots=True)
class Polled:
    """One side of a task queue."""

    what: str
    """`workflows` or `activities`."""
    queue: str
    alive: int
    """Workers that polled a moment ago."""
    last: timedelta | None
    """How long ago anybody polled; None for nobody in the last minutes."""
    waiting: timedelta
    """How long the oldest task has waited."""
    builds: frozenset[str] = frozenset()
    """Build ids of those alive that take part in versioning."""
    deployment: str = ""
    """What those are a deployment of."""
    current: str = ""
    """Build id that new work goes to; empty for workers without a version."""


async def polled(setup: Setup) -> Sequence[Finding]:
    """Whether somebody takes workflows and activities from the task queue."""
    client, now = await reaching.connect(setup), await _clock(setup)
    found = [
        read(await _describe(client, setup.task_queue, kind), what, queue=setup.task_queue, now=now)
        for what, kind in _KINDS.items()
    ]
    return [finding for each in found for finding in judge(each, setup.command)]


async def _clock(setup: Setup) -> datetime:
    """The hub's time, since a person's machine may be wrong; its own where the hub is away."""
    try:
        return await setup.hub.clock()
    except HubError:
        return datetime.now(UTC)


async def _describe(
    client: Client, queue: str, kind: "TaskQueueType.ValueType"
) -> DescribeTaskQueueResponse:
    return await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=kind,
            report_stats=True,
        )
    )


def read(answer: DescribeTaskQueueResponse, what: str, *, queue: str, now: datetime) -> Polled:
    """What Temporal says of a task queue."""
    ages = {each.identity: _age(each, now) for each in answer.pollers}
    alive = [each for each in answer.pollers if _age(each, now) <= GONE]
    versioned = [each.deployment_options for each in alive if _is_versioned(each)]
    return Polled(
        what=what,
        queue=queue,
        alive=len({each.identity for each in alive}),
        last=min(ages.values(), default=None),
        waiting=answer.stats.approximate_backlog_age.ToTimedelta(),
        builds=frozenset(each.build_id for each in versioned),
        deployment=versioned[0].deployment_name if versioned else "",
        current=answer.versioning_info.current_deployment_version.build_id,
    )


def _age(poller: PollerInfo, now: datetime) -> timedelta:
    # A clock that is behind Temporal's must not make a worker unborn.
    return max(now - poller.last_access_time.ToDatetime(UTC), timedelta(0))


def _is_versioned(poller: PollerInfo) -> bool:
    versioned = WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED
    return poller.deployment_options.worker_versioning_mode == versioned


def judge(found: Polled, command: Command) -> list[Finding]:
    """Say who takes work from a task queue."""
    about = f"workers for {found.what} on task queue {found.queue}"
    start = [command("fleetgate worker --run engine,bridge")]
    if not found.alive:
        seen = f"; the last did {words.age(found.last)} ago" if found.last else ""
        advice = "start a worker with this Temporal, namespace and task queue, or read its log"
        return [problem(about, f"nobody polls{seen}", advice=advice, commands=start)]
    findings = []
    if version := _version_trouble(about, found):
        findings.append(version)
    if found.waiting > BACKLOG:
        says = f"work has waited for {words.age(found.waiting)}"
        advice = "start more workers, or read the log of those that run"
        findings.append(warning(about, says, advice=advice, commands=start))
    if findings:
        return findings
    version_text = f", current version {found.current}" if found.current else ""
    return [ok(about, f"{words.count(found.alive, 'worker')} polled a moment ago{version_text}")]


def _version_trouble(about: str, found: Polled) -> Finding | None:
    """Workers that have a version get nothing until theirs is the current one."""
    if not found.builds and not found.current:
        return None
    if found.current in found.builds:
        return None
    if not found.builds:
        return problem(
            about,
            f"new work is for version {found.current}, and the workers that poll have none",
            advice="start workers of that version",
        )
    polls = ", ".join(sorted(found.builds))
    switch = "temporal worker deployment set-current-version"
    which = f"--deployment-name {found.deployment} --build-id {max(found.builds)}"
    says = f"new work is for {found.current or 'workers without a version'}, but {polls} polls"
    return problem(
        about,
        says,
        advice="make the version that runs the current one",
        commands=[f"{switch} {which}"],
    )
