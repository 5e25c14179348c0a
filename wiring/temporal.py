"""Connecting a process to Temporal, and the engine that polls it."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from temporalio.client import Client, Interceptor
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from activities.log_fields import LogFields
from activities.registry import all_activities
from hub import Hub, SharedCaches
from telemetry import TemporalMetrics, temporal_runtime
from wiring.connection import Connection
from wiring.settings import PlacementKind, Settings, Upgrade
from workflows import connecting, encryption
from workflows.connecting import UnreachableError
from workflows.plugin import connect_to_namespace

logger = logging.getLogger(__name__)

ACTIVITIES_AT_ONCE: Final = 1000
"""Activity slots: one for each run with clusters in flight, and the rest for short activities."""
STICKY: Final = timedelta(seconds=3)
"""How long a run's next workflow task waits for a killed worker before another one takes it."""
GRACE: Final = timedelta(seconds=5)
"""How long running activities may take to end on SIGTERM; otherwise they are retried."""
ENDED_WITHIN: Final = GRACE + timedelta(seconds=5)
"""How long the SDK's worker may take to end."""
_BEHAVIOR: Final = {
    Upgrade.ANY_TIME: VersioningBehavior.AUTO_UPGRADE,
    Upgrade.BETWEEN_STAGES: VersioningBehavior.PINNED,
}
RECONNECT: Final = 1.0
"""Seconds between attempts to reach Temporal when the worker starts."""


async def reach(
    settings: Settings, measured: TemporalMetrics, interceptors: Sequence[Interceptor]
) -> Connection:
    """Connect to Temporal, waiting for it and its namespace as long as it takes.

    Raises UnusableSettingsError for errors that waiting cannot fix.
    """
    runtime = temporal_runtime(measured.buffer)
    environ = dict(os.environ)
    if settings.payload_keys:
        environ[encryption.VARIABLE] = str(settings.payload_keys)
    while True:
        # Read before the client reads the same files, so that a change in between is noticed later.
        config, keys = connecting.read(environ), encryption.keys_of(environ)
        try:
            client = await connect_to_namespace(environ, runtime=runtime, interceptors=interceptors)
        except UnreachableError as error:
            logger.warning("Temporal does not answer, trying again: %s", error)
            await asyncio.sleep(RECONNECT)
        else:
            return Connection(client, environ=environ, config=config, keys=keys)


@asynccontextmanager
async def engine(
    client: Client, hub: Hub, caches: SharedCaches, settings: Settings
) -> AsyncIterator[Worker]:
    """Poll Temporal for workflows and activities while the context is open."""
    worker = Worker(
        client,
        task_queue=settings.task_queue,
        activities=all_activities(
            hub,
            client,
            caches=caches,
            rules=settings.rules,
            places=settings.placement is PlacementKind.BUILTIN,
        ),
        max_concurrent_activities=ACTIVITIES_AT_ONCE,
        sticky_queue_schedule_to_start_timeout=STICKY,
        graceful_shutdown_timeout=GRACE,
        interceptors=[LogFields()],
        deployment_config=versioning(settings),
    )
    async with polling(worker):
        yield worker


@asynccontextmanager
async def polling(worker: Worker, *, within: timedelta = ENDED_WITHIN) -> AsyncIterator[None]:
    """Run a worker while the context is open, and end it within a bounded time.

    The SDK's own shutdown may never end: it waits for activities that its core has lost track of
    (temporalio/sdk-python#1837), and for a poll while Temporal is unreachable
    (temporalio/sdk-rust#1297). If the worker fails, the body is cancelled and its error raised.
    """
    body = asyncio.current_task()
    assert body is not None, "an async context manager is entered by a task"
    running = asyncio.create_task(worker.run())
    leaving = False

    def stop_body(_: asyncio.Task[None]) -> None:
        if not leaving:
            body.cancel()

    running.add_done_callback(stop_body)
    try:
        yield
    except asyncio.CancelledError:
        if running.done() and not running.cancelled() and (failed := running.exception()):
            body.uncancel()
            raise failed from None
        raise
    finally:
        leaving = True
        shutdown = asyncio.create_task(worker.shutdown())
        if not await _ends(running, within):
            logger.warning("Temporal's worker does not end, giving up on it")
            running.cancel()
            await _ends(running, within)
        shutdown.cancel()


async def _ends(task: asyncio.Task[None], within: timedelta) -> bool:
    ended, _ = await asyncio.wait([task], timeout=within.total_seconds())  # noqa: TID251 - no workflow
    return bool(ended)


def versioning(settings: Settings) -> WorkerDeploymentConfig | None:
    """Return the deployment and build of the worker in Temporal; None without a deployment.

    Note that a worker of a deployment gets no work before its build is made current.
    """
    if not settings.deployment:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(
            deployment_name=settings.deployment, build_id=settings.build_id
        ),
        use_worker_versioning=True,
        default_versioning_behavior=_BEHAVIOR[settings.upgrade],
    )
