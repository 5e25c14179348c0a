"""A hub that refuses, delays, cuts off and forgets to answer: runs still do each thing once."""

import os
import secrets
from datetime import timedelta

import pytest

from tests.robustness.conftest import Between
from tests.robustness.rollouts import Rollout, Rollouts
from tests.support.fault_proxy import REASONS, Faults

SEED_VARIABLE = "FLEETGATE_TEST_SEED"
"""Repeats what a seed did that was printed by a test that failed."""

CONFLICT = 409
"""The answer after which an engine has to look again, not only to repeat."""


@pytest.mark.parametrize(
    "answer",
    [
        CONFLICT,
        *(
            pytest.param(each, marks=pytest.mark.long("the last test of this module has it too"))
            for each in sorted(REASONS.keys() - {CONFLICT})
        ),
    ],
)
async def test_writes_that_are_refused_at_times_are_repeated(
    pair: Rollouts, proxied_engine: Between, answer: int
) -> None:
    async with proxied_engine(seed=answer) as proxy:
        proxy.faults = Faults(refused=0.3, answers=(answer,))
        await pair.each(Rollout.from_begin_to_end)
        assert proxy.done[str(answer)]


async def test_writes_whose_answer_is_lost_are_done_once(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine(seed=1) as proxy:
        proxy.faults = Faults(lost=0.4)
        await pair.each(Rollout.from_begin_to_end)
        assert proxy.done["lost"]


async def test_everything_at_once_only_costs_time(pair: Rollouts, proxied_engine: Between) -> None:
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
