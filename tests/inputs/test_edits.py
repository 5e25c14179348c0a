"""Whatever is edited in the middle of a run, the run continues or ends with an explanation."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from temporalio.client import Client

from api.kinds import MEMBER_CLUSTER
from hub import Conflict, Forbidden, Invalid, Json, NotFound
from tests.inputs.workflow_tasks import failed_steps
from tests.support.conditions import condition, condition_of, says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import workflow_id

pytestmark = pytest.mark.usefixtures("engine", "no_tracebacks")

EDITS = 4
"""Number of edits during each run."""


class Run:
    """A run on two clusters with gates on both sides, and a person who edits its objects."""

    def __init__(self, placement: HandPlacement, random: Random) -> None:
        self.placement, self.random = placement, random
        self.name = placement.name
        self.clusters = [f"{self.name}-a", f"{self.name}-b"]

    async def begin(self) -> Json:
        await self.placement.create({each: {"env": self.name} for each in self.clusters})
        stage = {
            "name": "one",
            "labelSelector": {"matchLabels": {"env": self.name}},
            "beforeStageTasks": [{"type": "Approval"}],
            "afterStageTasks": [{"type": "TimedWait", "waitTime": "1s"}],
        }
        await self.placement.strategy(self.name, [stage])
        return await self.placement.create_run(self.name, self.name, index="0")

    async def edit(self) -> None:
        """Make an odd edit, which the hub may refuse."""
        edit: Callable[[], Awaitable[object]] = self.random.choice(
            [
                self.flip,
                self.flip,
                self.approve_oddly,
                self.approve_oddly,
                self.delete_approval,
                self.delete_strategy,
                self.relabel,
                self.delete_binding,
                self.edit_status,
                self.edit_binding,
                self.delete_placement,
            ]
        )
        try:
            await edit()
        except (NotFound, Invalid, Conflict, Forbidden):
            return

    async def flip(self) -> None:
        await self.placement.set_state(self.name, self.random.choice(["Stop", "Run", "Initialize"]))

    async def approve_oddly(self) -> None:
        odd = condition(
            self.random.choice(["Approved", "ApprovalAccepted", "Rejected"]),
            self.random.choice(["True", "False", "Unknown"]),
            self.random.choice([0, 1, 2, 2**62]),
            reason=self.random.choice(["ok", "R" * 1024, "a_b:c"]),
            message=self.random.choice(
                ["", "ä" * 32768, "\u202e\u2028\0", "${x}{y}%s", "x" * 32768]
            ),
        )
        await self.placement.hub.patch(
            self.placement.scope.approval,
            f"{self.name}-before-one",
            {"status": {"conditions": [odd]}},
            namespace=self.placement.namespace,
            subresource="status",
        )

    async def delete_approval(self) -> None:
        kind = self.placement.scope.approval
        await self._delete(kind, f"{self.name}-before-one")

    async def delete_strategy(self) -> None:
        await self._delete(self.placement.scope.strategy, self.name)

    async def delete_placement(self) -> None:
        await self._delete(self.placement.scope.placement, self.name)

    async def delete_binding(self) -> None:
        name = self.placement.binding_name(self.random.choice(self.clusters))
        await self._delete(self.placement.scope.binding, name)

    async def relabel(self) -> None:
        labels = {"env": self.random.choice([self.name, "other", None])}
        cluster = self.random.choice(self.clusters)
        await self.placement.hub.patch(MEMBER_CLUSTER, cluster, {"metadata": {"labels": labels}})

    async def edit_status(self) -> None:
        status = self.random.choice(
            [
                {"conditions": []},
                {"stagesStatus": []},
                {"stagedUpdateStrategySnapshot": None},
                {"deletionStageStatus": None},
                {"conditions": [condition("Succeeded", "True", 7, reason="Forged")]},
            ]
        )
        await self._patch(self.placement.scope.run, self.name, {"status": status}, "status")

    async def edit_binding(self) -> None:
        name = self.placement.binding_name(self.random.choice(self.clusters))
        spec = self.random.choice(
            [{"state": "Unscheduled"}, {"resourceSnapshotName": "x"}, {"targetCluster": "nobody"}]
        )
        await self._patch(self.placement.scope.binding, name, {"spec": spec})

    async def settle(self) -> None:
        """Do what a sensible person does: start, approve, and let clusters become available."""
        await asyncio.gather(
            *(
                self._if_there(each)
                for each in (self._run(), self._approve(), *map(self._report, self.clusters))
            )
        )

    async def _run(self) -> None:
        await self.placement.set_state(self.name, "Run")

    async def _approve(self) -> None:
        await self.placement.approve(f"{self.name}-before-one")

    async def _report(self, cluster: str) -> None:
        await self.placement.report(cluster)

    async def _if_there(self, deed: Awaitable[None]) -> None:
        try:
            await deed
        except (NotFound, Invalid, Conflict):
            return

    async def _delete(self, kind: object, name: str) -> None:
        await self.placement.hub.delete(kind, name, namespace=self.placement.namespace)  # type: ignore[arg-type]

    async def _patch(self, kind: object, name: str, patch: Json, subresource: str = "") -> None:
        await self.placement.hub.patch(
            kind,  # type: ignore[arg-type]
            name,
            patch,
            namespace=self.placement.namespace,
            subresource=subresource,
        )


async def test_an_edited_run_ends_with_an_explanation(
    placement: HandPlacement, unique: str, random: Random, amount: int, temporal: Client
) -> None:
    runs = [
        Run(
            HandPlacement(
                placement.hub, placement.scope, f"{unique}-{number}", namespace=placement.namespace
            ),
            Random(random.random()),
        )
        for number in range(max(4, amount // 8))
    ]
    slots = asyncio.Semaphore(6)

    async def play(run: Run) -> list[str]:
        async with slots:
            body = await run.begin()
            for _ in range(EDITS):
                await asyncio.sleep(run.random.random())
                await run.edit()
            await eventually(lambda: _settled(run), _has_ended)
            return await failed_steps(temporal, workflow_id(body, placement.scope))

    assert await asyncio.gather(*map(play, runs)) == [[] for _ in runs]


async def _settled(run: Run) -> Json:
    await run.settle()
    return await run.placement.read_run(run.name)


def _has_ended(run: Json) -> bool:
    """Return whether the engine itself has reported that the run succeeded or failed."""
    if says(run, "Initialized")[0] == "False":
        return bool(says(run, "Initialized")[2])
    status, reason, text = says(run, "Succeeded")
    return bool(condition_of(run, "Progressing")) and bool(status and text) and reason != "Forged"
