"""How long clusters took in earlier runs, to estimate a run that has just started."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import Final

from api.runs import UpdateRun
from hub import Hub, HubError, Json
from planning.runs import phases, views
from planning.runs.views import RunView
from starter import estimating
from starter.targets import Target

RUNS_AT_MOST: Final = 3
"""Earlier runs to read: the latest are the most similar, and each may have a thousand clusters."""
WITHIN: Final = timedelta(seconds=3)
"""An estimate is not worth a longer wait."""


async def durations(hub: Hub, target: Target, view: RunView) -> tuple[timedelta, ...]:
    """Return durations of clusters in the latest ended runs of the same placement and strategy.

    Empty if the run has ended or has durations of its own, and if the hub does not answer in time.
    """
    if view.phase in phases.ENDED or view.done:
        return ()
    try:
        async with asyncio.timeout(WITHIN.total_seconds()):
            found = await hub.list(target.scope.run, namespace=target.namespace)
    except (HubError, TimeoutError):
        return ()
    runs = islice(_over(each for each in found.items if _is_alike(each, view)), RUNS_AT_MOST)
    return tuple(length for run in runs for length in estimating.durations(run))


def _is_alike(body: Json, view: RunView) -> bool:
    spec = body["spec"]
    rollout = (spec["placementName"], spec["stagedRolloutStrategyName"])
    return rollout == (view.placement, view.strategy)


def _over(bodies: Iterable[Json]) -> Iterator[RunView]:
    """Yield the runs that ended with at least one cluster updated, latest first."""
    latest_first = sorted(bodies, key=_created, reverse=True)
    for view in map(views.of, map(UpdateRun.from_wire, latest_first)):
        if view.phase in phases.ENDED and view.done:
            yield view


def _created(body: Json) -> str:
    created: str = body["metadata"]["creationTimestamp"]
    return created
