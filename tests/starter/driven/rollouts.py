"""A placement on two clusters, the person who types about its runs, and the members."""

import asyncio
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from api.reasons import StageReason
from api.runs import UpdateRun
from hub import Json
from starter import views
from tests.starter.typed import Fleetgate, Printed, Typed
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started

APPROVAL = {"type": "Approval"}


def going(typed: Typed) -> list[str]:
    """What a command says of a run that goes on, up to where it tells that a cluster is stuck.

    The members here are as slow as a test makes them, so a late command may find that.
    """
    return list(takewhile(lambda line: not line.startswith("stuck at "), typed.out.splitlines()))


@dataclass(frozen=True)
class Rollout:
    """One placement with one strategy of its name."""

    placement: HandPlacement
    fleetgate: Fleetgate

    @property
    def name(self) -> str:
        """Of the placement, of the strategy, and of a run unless a test says otherwise."""
        return self.placement.name

    @property
    def clusters(self) -> tuple[str, str]:
        """Both clusters, in the order of their update."""
        return f"{self.name}-a", f"{self.name}-b"

    @property
    def flags(self) -> list[str]:
        """What says where the placement is."""
        return ["-n", self.placement.namespace] if self.placement.namespace else []

    async def type(self, *words: str, printed: Printed | None = None) -> Typed:
        """Type a command with these flags."""
        return await self.fleetgate(*words, *self.flags, printed=printed)

    def typing(self, *words: str, printed: Printed | None = None) -> "asyncio.Task[Typed]":
        """Type a command, and do something else until it ends."""
        return asyncio.create_task(self.type(*words, printed=printed))

    async def create(self, *, versions: int = 1, stages: list[Json] | None = None) -> None:
        """Write the placement, and the strategy: by default one stage, one cluster at a time."""
        labels = {each: {"env": self.name, "own": each} for each in self.clusters}
        await self.placement.create(labels, versions=versions)
        await self.placement.strategy(self.name, stages or [self.stage("one")])

    def stage(self, name: str, *, cluster: str = "", **fields: Any) -> Json:
        """A stage of both clusters, or of one."""
        labels = {"own": cluster} if cluster else {"env": self.name}
        return {"name": name, "labelSelector": {"matchLabels": labels}, **fields}

    async def run(self, name: str = "", *, index: int = 0, state: str = "Run") -> Json:
        """Write a run."""
        return await self.placement.create_run(
            name or self.name, self.name, index=str(index), state=state
        )

    async def reaches(self, reason: str, *, run: str = "", kind: str = "Progressing") -> Json:
        """Wait until a condition of a run has a reason."""
        return await reaches(self.placement, run or self.name, reason, kind=kind)

    async def is_stopping(self, run: str = "") -> None:
        """Wait until a run's first stage waits for what is in flight, which may be stuck by now."""
        await eventually(
            lambda: self.placement.read_run(run or self.name),
            lambda seen: (
                says(seen["status"]["stagesStatus"][0], "Progressing")[1] == StageReason.STOPPING
            ),
        )

    async def update(self, *clusters: str, index: int = 0) -> None:
        """Be the members: report the version as available as soon as it is asked for."""
        for cluster in clusters or self.clusters:
            await started(self.placement, cluster, index=index)
            await self.placement.report(cluster)

    async def roll_out(self, name: str, *, index: int) -> None:
        """A run from its beginning to its end."""
        await self.run(name, index=index)
        await self.update(index=index)
        await self.reaches("UpdateRunSucceeded", run=name, kind="Succeeded")

    async def waits_for_approval(self, run: str = "") -> None:
        """Wait until a run says that it stands at a gate."""
        await eventually(
            lambda: self.placement.read_run(run or self.name),
            lambda seen: views.of(UpdateRun.from_wire(seen)).gates.approvals,
        )

    async def asked(self, request: str) -> Json:
        """Wait until the run says that it has asked for an approval; returns the request."""
        await eventually(
            lambda: self.placement.read_run(self.name),
            lambda seen: any(
                task.get("approvalRequestName") == request
                and says(task, "ApprovalRequestCreated")[0] == "True"
                for stage in seen.get("status", {}).get("stagesStatus", [])
                for side in ("beforeStageTaskStatus", "afterStageTaskStatus")
                for task in stage.get(side, [])
            ),
        )
        return await eventually(lambda: self.placement.find_approval(request))
