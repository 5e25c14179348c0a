"""Checks of the workers: which poll the task queue, whether tasks wait, and one by its metrics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import aiohttp
from prometheus_client.parser import text_string_to_metric_families
from temporalio.api.enums.v1 import TaskQueueType, WorkerVersioningMode
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client

from hub import HubError, Limits
from starter import words
from starter.doctor import temporal_server
from starter.doctor.findings import Command, Finding, Setup, ok, problem, warning

GONE: Final = timedelta(seconds=100)
"""Age of the last poll after which a worker counts as gone: a poll lasts at most a minute, and the
next one follows at once. Temporal lists a worker for minutes after it has died."""
BACKLOG: Final = timedelta(seconds=30)
"""Tasks that wait for longer than this are worth a warning."""
_KINDS: Final = {
    "workflows": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    "activities": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
}


@dataclass(frozen=True, slots=True)
class Polled:
    """State of a task queue for one type of task."""

    what: str
    """`workflows` or `activities`."""
    queue: str
    alive: int
    """Number of workers that polled within GONE."""
    last: timedelta | None
    """Time since the last poll; None if there was none in the last minutes."""
    waiting: timedelta
    """How long the oldest task has waited."""
    builds: frozenset[str] = frozenset()
    """Build ids of the live workers that use versioning."""
    deployment: str = ""
    """Their worker deployment."""
    current: str = ""
    """Build id that gets new tasks; empty if unversioned workers do."""


async def polled(setup: Setup) -> Sequence[Finding]:
    """Check that workers take workflows and activities from the task queue."""
    client, now = await temporal_server.connect(setup), await _clock(setup)
    found = [
        read_queue(
            await describe(client, setup.task_queue, kind), what, queue=setup.task_queue, now=now
        )
        for what, kind in _KINDS.items()
    ]
    return [finding for each in found for finding in judge_queue(each, setup.command)]


async def _clock(setup: Setup) -> datetime:
    """Return the hub's time, or this machine's if the hub is unreachable.

    The hub comes first because the clock of a user's machine may be wrong.
    """
    try:
        return await setup.hub.clock()
    except HubError:
        return datetime.now(UTC)


async def describe(
    client: Client, queue: str, kind: "TaskQueueType.ValueType"
) -> DescribeTaskQueueResponse:
    """Return Temporal's description of a task queue. Raises RPCError."""
    return await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=kind,
            report_stats=True,
        )
    )


def read_queue(
    answer: DescribeTaskQueueResponse, what: str, *, queue: str, now: datetime
) -> Polled:
    """Read Temporal's description of a task queue."""
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
    # With a clock behind Temporal's, the age would be negative.
    return max(now - poller.last_access_time.ToDatetime(UTC), timedelta(0))


def _is_versioned(poller: PollerInfo) -> bool:
    versioned = WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED
    return poller.deployment_options.worker_versioning_mode == versioned


def judge_queue(found: Polled, command: Command) -> list[Finding]:
    """Judge whether workers take tasks from a task queue in time."""
    about = f"workers for {found.what} on task queue {found.queue}"
    start = [command("fleetgate worker --run engine,bridge")]
    if not found.alive:
        seen = f"; the last poll was {words.age(found.last)} ago" if found.last else ""
        advice = "start a worker for this Temporal namespace and task queue, or read its log"
        return [problem(about, f"none are polling{seen}", advice=advice, commands=start)]
    findings = []
    if version := _version_trouble(about, found):
        findings.append(version)
    if found.waiting > BACKLOG:
        says = f"tasks have been waiting for {words.age(found.waiting)}"
        advice = "start more workers, or read the logs of the running ones"
        findings.append(warning(about, says, advice=advice, commands=start))
    if findings:
        return findings
    version_text = f", current version {found.current}" if found.current else ""
    return [ok(about, f"{words.count(found.alive, 'worker')} polled a moment ago{version_text}")]


def _version_trouble(about: str, found: Polled) -> Finding | None:
    """Return what is wrong with the workers' versions, or None.

    Versioned workers get no tasks until their version is the current one.
    """
    if not found.builds and not found.current:
        return None
    if found.current in found.builds:
        return None
    if not found.builds:
        return problem(
            about,
            f"new tasks go to version {found.current}, but the polling workers have no version",
            advice="start workers of that version",
        )
    polls = ", ".join(sorted(found.builds))
    switch = "temporal worker deployment set-current-version"
    which = f"--deployment-name {found.deployment} --build-id {max(found.builds)}"
    target = found.current or "workers without a version"
    says = f"new tasks go to {target}, but the polling workers have {polls}"
    return problem(
        about,
        says,
        advice="make the running version the current one",
        commands=[f"{switch} {which}"],
    )


# -- one worker by its metrics -------------------------------------------------------------


_READY: Final = "fleetgate_ready"
_SILENCE: Final = "fleetgate_hub_watch_silence_seconds"
_FORWARD: Final = "`kubectl port-forward` brings a pod's metrics here"
SILENT: Final = Limits().silence
"""After this a worker considers a watch dead and opens another."""


async def reported(setup: Setup) -> Sequence[Finding]:
    """Read the metrics at the given address; return no findings if there is no address."""
    if not setup.metrics:
        return []
    about = f"worker at {setup.metrics}"
    try:
        async with (
            aiohttp.ClientSession(trust_env=False) as session,
            session.get(f"http://{setup.metrics}/metrics") as answer,
        ):
            answer.raise_for_status()
            text = await answer.text()
    except (aiohttp.ClientError, OSError) as error:
        advice = (
            "check that the worker is running, and its FLEETGATE_METRICS_ADDRESS; reach the "
            "metrics of a pod with `kubectl port-forward`"
        )
        return [problem(about, f"does not answer: {error}", advice=advice)]
    return judge_metrics(about, _samples(text))


def _samples(text: str) -> Iterable[tuple[str, dict[str, str], float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value


def judge_metrics(
    about: str, samples: Iterable[tuple[str, dict[str, str], float]]
) -> list[Finding]:
    """Judge whether the worker is ready and its watches are alive."""
    found = list(samples)
    ready = [value for name, _, value in found if name == _READY]
    silent = {
        labels.get("resource", ""): timedelta(seconds=value)
        for name, labels, value in found
        if name == _SILENCE
    }
    log = "its log says what it is waiting for"
    if not ready or not ready[0]:
        return [problem(about, "is not ready", advice=log)]
    late = {name: length for name, length in silent.items() if length > SILENT}
    if late:
        lengths = ", ".join(f"{name} for {words.age(length)}" for name, length in late.items())
        return [warning(about, f"its watches have been silent: {lengths}", advice=log)]
    longest = max(silent.values(), default=timedelta(0))
    watches = words.count(len(silent), "kind")
    return [ok(about, f"ready; watches {watches}, the quietest silent for {words.age(longest)}")]
