"""The versions of the Temporal server, and of the workers that poll it."""

import asyncio
from datetime import UTC, datetime

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError

from starter import temporal, words
from starter.doctor import workers
from starter.targets import Target


async def read(target: Target, task_queue: str) -> tuple[str, str]:
    """Return the server's version and those of the workers, or why they are not known.

    Raises CommandFailure for invalid settings.
    """
    try:
        client = await temporal.connect(target)
        async with asyncio.timeout(temporal.CONNECT_WITHIN.total_seconds()):
            info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
            return info.server_version, await _of_workers(client, task_queue)
    except (temporal.OutOfReach, TimeoutError, RPCError) as error:
        why = "cannot be reached" if isinstance(error, temporal.OutOfReach) else str(error)
        return why or "did not answer", "unknown, because Temporal cannot tell"


async def _of_workers(client: Client, task_queue: str) -> str:
    kind = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
    answer = await workers.describe(client, task_queue, kind)
    found = workers.read_queue(answer, "workflows", queue=task_queue, now=datetime.now(UTC))
    if not found.alive:
        return f"none polls task queue {task_queue}"
    builds = ", ".join(sorted(found.builds)) or "no build ID"
    return f"{builds} ({words.count(found.alive, 'worker')} on task queue {task_queue})"
