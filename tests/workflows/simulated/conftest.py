"""Runs in virtual time; each is replayed after the test, as a worker would do it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.workflows.simulated.simulated_runs import SimulatedRun, StageOf

Begin = Callable[..., SimulatedRun]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Start a run; at the end of the test it has to replay, unless that would take too long."""
    begun: list[tuple[SimulatedRun, bool]] = []

    def begin(*stages: StageOf, replays: bool = True, **fields: Any) -> SimulatedRun:
        run = SimulatedRun(*stages, **fields)
        begun.append((run, replays))
        return run

    yield begin
    for run, replays in begun:
        if replays:
            run.temporal.check_replay()
        run.temporal.evict()
