"""A hub that refuses, delays or drops requests or responses: runs still do everything once."""

import asyncio
import os
import secrets
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial

import pytest
from temporalio.client import Client

from hub import Hub
from tests.robustness.conftest import Between
from tests.robustness.rollouts import Rollout, Rollouts
from tests.support.admission import status_refused
from tests.support.eventually import eventually
from tests.support.fault_proxy import REASONS, Faults
from tests.workflows.runs import workflow_id

SEED_VARIABLE = "FLEETGATE_TEST_SEED"
"""Environment variable with the seed that a failed test printed, to repeat its faults."""

REFUSED = 4
"""In seconds."""
MOST_EVENTS = 20
"""Maximum number of history events of a workflow in that time."""
CONFLICT = 409
"""The response after which an engine has to read again, not just retry."""


@pytest.mark.parametrize(
    "answer",
    [
        CONFLICT,
        *(
            pytest.param(
                each, marks=pytest.mark.long("also covered by the last test of this module")
            )
            for each in sorted(REASONS.keys() - {CONFLICT})
        ),
    ],
)
async def test_writes_that_are_refused_at_times_are_retried(
    pair: Rollouts, proxied_engine: Between, answer: int
) -> None:
    async with proxied_engine(seed=answer) as proxy:
        proxy.faults = Faults(refused=0.3, answers=(answer,))
        await pair.each(Rollout.from_begin_to_end)
        assert proxy.done[str(answer)]


async def test_a_status_that_a_policy_refuses_is_retried_at_a_low_rate(
    hub: Hub, rollout: Rollout, proxied_engine: Between, temporal: Client
) -> None:
    async with proxied_engine():
        await rollout.begin()
        await rollout.written("one")
        workflow = temporal.get_workflow_handle(workflow_id(await rollout.read(), rollout.scope))
        async with refusing_status(hub, rollout):
            await rollout.update("one")
            told = await eventually(lambda: rollout.told(), lambda found: "StatusRefused" in found)
            before = (await workflow.describe()).history_length
            await asyncio.sleep(REFUSED)
            assert (await workflow.describe()).history_length < before + MOST_EVENTS
            assert told.count("StatusRefused") == 1
        await rollout.finish()


def refusing_status(hub: Hub, rollout: Rollout) -> AbstractAsyncContextManager[None]:
    """Let the hub refuse every status of the run."""
    kind, namespace = rollout.scope.run, rollout.placement.namespace
    patch = [{"op": "add", "path": "/status/policyObservedClusterCount", "value": 9}]
    trial = partial(
        hub.patch,
        kind,
        rollout.run,
        patch,
        namespace=namespace,
        subresource="status",
        dry_run=True,
    )
    return status_refused(hub, kind, rollout.run, unless="false", trial=trial)


async def test_writes_whose_response_is_lost_are_done_once(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine(seed=1) as proxy:
        proxy.faults = Faults(lost=0.4)
        await pair.each(Rollout.from_begin_to_end)
        assert proxy.done["lost"]


async def test_all_faults_together_only_cost_time(pair: Rollouts, proxied_engine: Between) -> None:
    seed = int(os.environ.get(SEED_VARIABLE) or secrets.randbelow(1_000_000))
    async with proxied_engine(seed=seed) as proxy:
        proxy.faults = Faults(
            refused=0.2,
            lost=0.1,
            longest_delay=timedelta(milliseconds=200),
            longest_watch=timedelta(seconds=3),
            copies=2,
        )
        await pair.each(Rollout.from_begin_to_end)
        assert proxy.done["watch"]
