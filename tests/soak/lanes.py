"""A lane: one placement of an application, and its runs, one after the other.

It does what people do: changes the image, starts a run, approves requests, stops and resumes, and
starts another run when one is stuck with an image that cannot be pulled.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Final

from api.kinds import NAMESPACE, WORK, Kind, Scope
from api.names import MEMBER_NAMESPACE_PREFIX, PARENT_PLACEMENT
from hub import Hub, Json
from tests.soak import objects, statuses
from tests.soak.history import Address, History, Write
from tests.soak.members import images
from tests.soak.objects import APP, DEPLOYMENT, IMAGE_PATH
from tests.soak.orders import End, Order
from tests.soak.people import LOOK_AGAIN, create, delete, persist, seen
from tests.soak.trails import Case
from tests.support.conditions import condition_of, says
from tests.support.hand_placement import HandPlacement

PATIENCE: Final = 480
"""Seconds within which a run must be over, even with faults and on a busy machine."""


class NotOverError(Exception):
    """A run did not reach the expected state in time."""


@dataclass
class Lane:
    """One placement and its runs."""

    name: str
    """Name of the placement, and of the namespace with the application."""
    scope: Scope
    hub: Hub
    members: dict[str, Hub]
    """The members that have an API server."""
    stages: dict[str, tuple[str, ...]]
    history: History
    approved: set[str] = field(default_factory=set)
    _overtaken: Order | None = None

    @property
    def namespace(self) -> str:
        """Namespace of the runs; empty for cluster-scoped ones."""
        return self.name if self.scope.run.namespaced else ""

    @property
    def _placement(self) -> HandPlacement:
        return HandPlacement(self.hub, self.scope, self.name, self.namespace)

    # -- before the first run --------------------------------------------------------------

    async def prepare(self) -> None:
        """Create the application and its placement, and wait until it is scheduled."""
        for hub in (self.hub, *self.members.values()):
            await hub.apply(NAMESPACE, {"metadata": {"name": self.name}})
        await create(self.hub, DEPLOYMENT, objects.deployment(self.name, image="example/app:v0"))
        spec = objects.placement_spec(self.name, namespaced=bool(self.namespace))
        await create(self.hub, self.scope.placement, self._placement.body({"spec": spec}))
        scheduled = f"{self.scope.placement.kind}Scheduled"
        everybody = sum(map(len, self.stages.values()))

        async def bound() -> Json:
            return {"items": await self._bindings()}

        await seen(bound, lambda found: found and len(found["items"]) == everybody, within=PATIENCE)
        await seen(
            lambda: self._find(self.scope.placement, self.name),
            lambda found: found and says(found, scheduled)[0] == "True",
            within=PATIENCE,
        )

    # -- one run ---------------------------------------------------------------------------

    async def roll_out(self, order: Order) -> list[Case]:
        """Carry out one order; return the runs that are over after it.

        Raises NotOverError.
        """
        await self._set_image(order.image)
        strategy = {"spec": objects.strategy_spec(order)}
        await create(self.hub, self.scope.strategy, self._placement.body(strategy, name=order.run))
        run = {"spec": self._placement.run_spec(order.run)}
        await create(self.hub, self.scope.run, self._placement.body(run, name=order.run))
        await self._attend(order)
        if order.end is End.OVERTAKEN:
            self._overtaken = order
            return []
        if order.end is End.SUCCESS:
            await self._placed(order)
        before, self._overtaken = self._overtaken, None
        if before is not None:
            await self._until_over(before)
        return [await self._case(each) for each in (before, order) if each is not None]

    async def _set_image(self, image: str) -> None:
        patch = [{"op": "replace", "path": IMAGE_PATH, "value": image}]
        await persist(lambda: self.hub.patch(DEPLOYMENT, APP, patch, namespace=self.name))

    async def _attend(self, order: Order) -> None:
        """Do what people do, until the run is in the state that the order asks for."""
        deadline, stops = monotonic() + PATIENCE, order.stop_after is not None
        while True:
            await asyncio.sleep(LOOK_AGAIN)
            run = await self._run(order)
            if run is None or _reached(order, run):
                return
            if monotonic() > deadline:
                raise NotOverError(f"not over after {PATIENCE} s: {run.get('status')}")
            await self._approve(order, run)
            done = _clusters_done(run)
            if stops and done >= (order.stop_after or 0) and says(run, "Initialized")[0] == "True":
                stops = False
                await self._stop_and_go(order)
            if order.end is End.DELETED and done >= order.delete_after:
                await delete(self.hub, self.scope.run, order.run, namespace=self.namespace)

    async def _approve(self, order: Order, run: Json) -> None:
        for request in _asked(run):
            if request in self.approved:
                continue
            await asyncio.sleep(order.hesitation)
            if generation := await self._generation(request):
                await persist(partial(self._placement.approve, request, generation=generation))
                self.approved.add(request)

    async def _generation(self, request: str) -> int:
        found = await self._find(self.scope.approval, request)
        return found["metadata"]["generation"] if found else 0

    async def _stop_and_go(self, order: Order) -> None:
        await persist(lambda: self._placement.set_state(order.run, "Stop"))
        await seen(
            lambda: self._find(self.scope.run, order.run),
            lambda run: (
                run is None or says(run, "Progressing")[1] == "UpdateRunStopped" or _is_over(run)
            ),
            within=PATIENCE,
        )
        await asyncio.sleep(order.pause)
        await persist(lambda: self._placement.set_state(order.run, "Run"))

    async def _until_over(self, order: Order) -> None:
        await seen(
            lambda: self._find(self.scope.run, order.run),
            lambda run: run is None or _is_over(run),
            within=PATIENCE,
        )

    async def _placed(self, order: Order) -> None:
        """Wait until the placement's own status matches that of the run."""
        if says(await self._run(order) or {}, "Succeeded")[0] != "True":
            return
        available = f"{self.scope.placement.kind}Available"
        index = (await self._run(order) or {})["status"]["resourceSnapshotIndexUsed"]
        await seen(
            lambda: self._find(self.scope.placement, self.name),
            lambda found: (
                found
                and found["status"].get("observedResourceIndex") == index
                and says(found, available)[0] == "True"
            ),
            within=PATIENCE,
        )

    # -- results ---------------------------------------------------------------------------

    async def _case(self, order: Order) -> Case:
        requests = [
            f"{order.run}-{side}-{stage}" for stage in self.stages for side in ("before", "after")
        ]
        bindings = {each["spec"]["targetCluster"]: each for each in await self._bindings()}
        run = await self._run(order)
        await self._caught_up([(self.scope.run, order.run, run)])
        await self._caught_up(
            (self.scope.binding, each["metadata"]["name"], each) for each in bindings.values()
        )
        for each in requests:
            await self._caught_up(
                [(self.scope.approval, each, await self._find(self.scope.approval, each))]
            )
        return Case(
            order=order,
            stages=self.stages,
            run=self._writes(self.scope.run, order.run),
            bindings={
                cluster: self._writes(self.scope.binding, each["metadata"]["name"])
                for cluster, each in bindings.items()
            },
            approvals={each: self._writes(self.scope.approval, each) for each in requests},
            approved=frozenset(self.approved & set(requests)),
            images=await self._images() if order.end is End.SUCCESS else {},
        )

    def _writes(self, kind: Kind, name: str) -> list[Write]:
        return list(self.history.of([self._address(kind, name)]))

    def _address(self, kind: Kind, name: str) -> Address:
        return (kind.plural, self.namespace, name)

    async def _caught_up(self, objects: Iterable[tuple[Kind, str, Json | None]]) -> None:
        """Wait until the history has the current versions of the objects."""
        for kind, name, body in objects:
            wanted = int(body["metadata"]["resourceVersion"]) if body else 0
            deadline = monotonic() + PATIENCE
            while self.history.latest.get(self._address(kind, name), 0) < wanted:
                if monotonic() > deadline:
                    raise NotOverError(f"the history lacks {name} at revision {wanted}")
                await asyncio.sleep(LOOK_AGAIN)

    async def _images(self) -> dict[str, str]:
        """Return the image sent to each cluster, or running on it if it has an API server."""
        base = f"{self.namespace}.{self.name}" if self.namespace else self.name
        sent = {}
        for cluster in (each for stage in self.stages.values() for each in stage):
            namespace = MEMBER_NAMESPACE_PREFIX + cluster
            work = await self._find(WORK, f"{base}-work", namespace=namespace)
            sent[cluster] = ",".join(images(work or {"spec": {}}))
        for cluster, hub in self.members.items():
            app = await persist(partial(hub.get, DEPLOYMENT, APP, namespace=self.name))
            sent[cluster] = app["spec"]["template"]["spec"]["containers"][0]["image"]
        return sent

    async def forget(self, cases: list[Case]) -> None:
        """Delete runs that have been judged from the hub, and drop their writes from memory."""
        for case in cases:
            run = case.order.run
            await delete(self.hub, self.scope.run, run, namespace=self.namespace)
            await delete(self.hub, self.scope.strategy, run, namespace=self.namespace)
            gone = [
                self._address(self.scope.run, run),
                *(self._address(self.scope.approval, each) for each in case.approvals),
            ]
            self.history.forget(gone, before=1 << 62)
            for writes in case.bindings.values():
                # The last write is the state in which the next run starts.
                self.history.forget([writes[-1].address], before=writes[-1].revision)

    # -- the hub ---------------------------------------------------------------------------

    async def _run(self, order: Order) -> Json | None:
        return await self._find(self.scope.run, order.run)

    async def _find(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json | None:
        where = self.namespace if namespace is None else namespace
        return await persist(lambda: self.hub.find(kind, name, namespace=where))

    async def _bindings(self) -> list[Json]:
        labels = f"{PARENT_PLACEMENT}={self.name}"
        found = await persist(
            lambda: self.hub.list(self.scope.binding, namespace=self.namespace, labels=labels)
        )
        return found.items


def _is_over(run: Json) -> bool:
    return bool(condition_of(run, "Succeeded")) or says(run, "Initialized")[0] == "False"


def _reached(order: Order, run: Json) -> bool:
    stuck = says(run, "Progressing")[1] == "UpdateRunStuck"
    return _is_over(run) or (order.end is End.OVERTAKEN and stuck)


def _clusters_done(run: Json) -> int:
    return sum(
        bool(condition_of(part, "Succeeded"))
        for path, part in statuses.parts(run)
        if path[0] == "cluster"
    )


def _asked(run: Json) -> list[str]:
    """Return the names of the approval requests that the run waits for."""
    return [
        part["approvalRequestName"]
        for path, part in statuses.parts(run)
        if path[0] == "task"
        and condition_of(part, "ApprovalRequestCreated")
        and not condition_of(part, "ApprovalRequestApproved")
    ]
