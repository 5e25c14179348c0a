"""A placement on two clusters, the commands for its runs, and the members."""

import asyncio
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from api.reasons import StageReason
from api.runs import UpdateRun
from hub import Json
from planning.runs import views
from tests.starter.typed import Fleetgate, Printed, Typed
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started

APPROVAL = {"type": "Approval"}


def going(typed: Typed) -> list[str]:
    """Return what a command prints about a run, up to where it says that a cluster is stuck.

    Members here are as slow as a test makes them, so a slow command may find a stuck cluster.
    """
    return list(takewhile(lambda line: not line.startswith("stuck at "), typed.out.splitlines()))


@dataclass(frozen=True)
class Rollout:
    """One placement and a strategy with the same name."""

    placement: HandPlacement
    fleetgate: Fleetgate

    @property
    def name(self) -> str:
        """Name of the placement, of the strategy, and of a run unless a test says otherwise."""
        return self.placement.name

    @property
    def clusters(self) -> tuple[str, str]:
        """Both clusters, in update order."""
        return f"{self.name}-a", f"{self.name}-b"

    @property
    def flags(self) -> list[str]:
        """The namespace flags for the placement."""
        return ["-n", self.placement.namespace] if self.placement.namespace else []

    async def type(self, *words: str, printed: Printed | None = None) -> Typed:
        """Run a command with these flags."""
        return await self.fleetgate(*words, *self.flags, printed=printed)

    def typing(self, *words: str, printed: Printed | None = None) -> "asyncio.Task[Typed]":
        """Start a command in the background."""
        return asyncio.create_task(self.type(*words, printed=printed))

    async def create(self, *, versions: int = 1, stages: list[Json] | None = None) -> None:
        """Create the placement and the strategy: by default one stage, one cluster at a time."""
        labels = {each: {"env": self.name, "own": each} for each in self.clusters}
        await self.placement.create(labels, versions=versions)
        await self.placement.strategy(self.name, stages or [self.stage("one")])

    def stage(self, name: str, *, cluster: str = "", **fields: Any) -> Json:
        """Return a stage with both clusters, or with one."""
        labels = {"own": cluster} if cluster else {"env": self.name}
        return {"name": name, "labelSelector": {"matchLabels": labels}, **fields}

    async def run(self, name: str = "", *, index: int = 0, state: str = "Run") -> Json:
        """Create a run."""
        return await self.placement.create_run(
            name or self.name, self.name, index=str(index), state=state
        )

    async def reaches(self, reason: str, *, run: str = "", kind: str = "Progressing") -> Json:
        """Wait until a condition of a run has a reason."""
        return await reaches(self.placement, run or self.name, reason, kind=kind)

    async def is_stopping(self, run: str = "") -> None:
        """Wait until a run's first stage is stopping: clusters in flight may be stuck by then."""
        await eventually(
            lambda: self.placement.read_run(run or self.name),
            lambda seen: (
                says(seen["status"]["stagesStatus"][0], "Progressing")[1] == StageReason.STOPPING
            ),
        )

    async def update(self, *clusters: str, index: int = 0) -> None:
        """Play the members: report the snapshot as available as soon as it is rolled out."""
        for cluster in clusters or self.clusters:
            await started(self.placement, cluster, index=index)
            await self.placement.report(cluster)

    async def roll_out(self, name: str, *, index: int) -> None:
        """Take a run from its start to its end."""
        await self.run(name, index=index)
        await self.update(index=index)
        await self.reaches("UpdateRunSucceeded", run=name, kind="Succeeded")

    async def waits_for_approval(self, run: str = "") -> None:
        """Wait until a run shows an open approval."""
        await eventually(
            lambda: self.placement.read_run(run or self.name),
            lambda seen: views.of(UpdateRun.from_wire(seen)).gates.approvals,
        )

    async def asked(self, request: str) -> Json:
        """Wait until the run has requested an approval; return the request."""
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
