"""A slow activity is distinguished from a lost one."""

import asyncio

from temporalio import activity
from temporalio.testing import ActivityEnvironment

from activities.writing import Writing


async def test_an_attempt_is_writing_until_it_is_over() -> None:
    writing, begun, enough = Writing(), asyncio.Event(), asyncio.Event()
    environment = ActivityEnvironment()
    workflow_id, activity_id = environment.info.workflow_id or "", environment.info.activity_id

    async def write() -> None:
        assert not writing.includes(workflow_id, activity_id, attempt=activity.info().attempt)
        with writing.noted():
            begun.set()
            await enough.wait()

    written = asyncio.ensure_future(environment.run(write))
    await begun.wait()
    assert writing.includes(workflow_id, activity_id, attempt=1)
    assert not writing.includes(workflow_id, activity_id, attempt=2)
    assert not writing.includes("another", activity_id, attempt=1)
    enough.set()
    await written
    assert not writing.includes(workflow_id, activity_id, attempt=1)
