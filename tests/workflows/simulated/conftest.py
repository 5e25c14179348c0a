"""Runs in virtual time; what a test has begun is repeated afterwards, as a worker would."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.workflows.simulated.simulated_runs import SimulatedRun, StageOf

Begin = Callable[..., SimulatedRun]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Begin a run; at the end of the test it has to replay."""
    begun: list[SimulatedRun] = []

    def begin(*stages: StageOf, **fields: Any) -> SimulatedRun:
        begun.append(SimulatedRun(*stages, **fields))
        return begun[-1]

    yield begin
    for run in begun:
        run.temporal.check_replay()
        run.temporal.evict()
