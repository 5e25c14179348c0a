"""One campaign: a fleet, lanes with runs, faults, and a judge."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any

from api.kinds import SCOPES
from deploy.local.errors import LocalFleetError
from hub import Hub
from tests.soak.fleet import Fleet, Shape, running_fleet
from tests.soak.history import History
from tests.soak.judging import Violation, judge
from tests.soak.lanes import Lane, NotOverError
from tests.soak.objects import register_members
from tests.soak.orders import End, Order, orders
from tests.soak.people import delete
from tests.soak.reading import AuditReader, StoreReader
from tests.soak.report import Outcome
from tests.soak.strikes import strikes, weather
from tests.soak.striking import Striker
from tests.support.servers import Servers

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The size, duration and targets of a campaign."""

    seed: int
    shape: Shape
    lanes: int
    runs: int
    seconds: float
    """Time after which no run is started."""
    targets: Sequence[str]
    """Processes that fail."""
    pace: float = 1
    """How quickly faults follow each other."""

    def orders(self) -> dict[str, list[Order]]:
        """Return the orders of each lane."""
        asked = {}
        for number in range(self.lanes):
            lane, share = f"lane{number + 1}", self.runs // self.lanes
            more = number < self.runs % self.lanes
            asked[lane] = _rounded(list(islice(orders(self.seed, lane), share + more)))
        return asked


def _rounded(asked: list[Order]) -> list[Order]:
    """Drop the last run if it has to be overtaken, because no other run follows."""
    return asked[:-1] if asked and asked[-1].end is End.OVERTAKEN else asked


class Campaign:
    """Runs on a fleet during faults."""

    def __init__(self, plan: Plan, fleet: Fleet, hub: Hub, members: dict[str, Hub]) -> None:
        self._plan = plan
        self._fleet = fleet
        self._hub = hub
        self._members = members
        self._history = History()
        self._striker = Striker(fleet)
        self.outcome = Outcome(plan.seed)

    async def run(self) -> Outcome:
        """Carry out the plan."""
        begun = monotonic()
        audit = AuditReader(self._fleet.hub.audit_log, self._history)
        store = StoreReader(self._fleet.etcd, prefix=self._fleet.hub.name, history=self._history)
        lanes = self._lanes()
        async with _in_background(audit.run(), store.run()):
            await register_members(self._hub, self._fleet.shape.stages)
            await asyncio.gather(*(lane.prepare() for lane in lanes))
            plan, struck = self._plan, self._striker
            async with _in_background(
                struck.strike(strikes(plan.seed, plan.targets, pace=plan.pace)),
                struck.trouble_network(weather(plan.seed, self._fleet.own, pace=plan.pace)),
                struck.watch(),
            ):
                until, asked = monotonic() + plan.seconds, plan.orders()
                await asyncio.gather(
                    *(self._drive(lane, asked[lane.name], audit, until) for lane in lanes)
                )
            await self._come_to_rest()
        self._sum_up(minutes=(monotonic() - begun) / 60)
        return self.outcome

    def _lanes(self) -> list[Lane]:
        scopes = [SCOPES[name] for name in sorted(SCOPES)]
        return [
            Lane(
                f"lane{number + 1}",
                scopes[number % len(scopes)],
                self._hub,
                self._members,
                self._fleet.shape.stages,
                self._history,
            )
            for number in range(self._plan.lanes)
        ]

    async def _drive(
        self, lane: Lane, asked: list[Order], audit: AuditReader, until: float
    ) -> None:
        overtaking = False
        for order in asked:
            if monotonic() > until and not overtaking:
                return
            overtaking = order.end is End.OVERTAKEN
            begun = monotonic()
            try:
                cases = await lane.roll_out(order)
            except (NotOverError, AssertionError) as error:
                self._found([Violation("ends at all", order.run, str(error))])
                await delete(self._hub, lane.scope.run, order.run, namespace=lane.namespace)
                continue
            audit.catch_up()
            for case in cases:
                self.outcome.runs[case.order.end] += 1
                self._found(judge(case))
            took = monotonic() - begun
            self.outcome.slowest = max(took, self.outcome.slowest)
            logger.info("%s: %s after %.1f s", order.run, order.end, took)
            await lane.forget(cases)

    def _found(self, violations: list[Violation]) -> None:
        for each in violations:
            logger.error("VIOLATION %s: %s: %s", each.run, each.rule, each.text)
        self.outcome.violations += violations

    async def _come_to_rest(self) -> None:
        """Wait until every process is ready after the last fault."""
        try:
            await self._fleet.ready()
        except LocalFleetError as error:
            self._fleet.troubles.append(str(error))

    def _sum_up(self, *, minutes: float) -> None:
        outcome = self.outcome
        outcome.faults = self._striker.done
        outcome.requests = self._striker.met
        outcome.troubles = self._fleet.troubles
        ended = self._fleet.endings
        outcome.endings = {name: ended[name] for name in self._fleet.own if name in ended}
        outcome.repeated = self._history.repeated
        outcome.minutes = minutes


@asynccontextmanager
async def _in_background(*doing: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run these until the context ends, then raise the first of their errors."""
    tasks = [asyncio.create_task(each) for each in doing]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
    for each in found:
        if isinstance(each, Exception):
            raise each


async def carry_out(plan: Plan, servers: Servers) -> Outcome:
    """Start a fleet, run the campaign on it, stop the fleet."""
    async with AsyncExitStack() as stack:
        fleet = await stack.enter_async_context(running_fleet(plan.shape, servers, seed=plan.seed))
        hub = await stack.enter_async_context(
            await Hub.connect(fleet.hub.kubeconfig, manager="people")
        )
        members = {
            name: await stack.enter_async_context(await Hub.connect(plane.kubeconfig))
            for name, plane in fleet.members.items()
        }
        return await Campaign(plan, fleet, hub, members).run()
