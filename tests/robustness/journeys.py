"""Runs with an approval, a timed wait, a stop, or a cluster to remove."""

from api.kinds import Scope
from api.names import TARGET_UPDATE_RUN
from hub import Hub, Json
from tests.robustness.rollouts import APPROVAL, Rollout, in_time
from tests.support.conditions import condition_of, says

HELD = "example.com/held"
"""Finalizer that keeps a deleted binding."""


class Journey(Rollout):
    """A rollout whose strategy has an approval, a timed wait, or neither."""

    def __init__(
        self, hub: Hub, scope: Scope, name: str, *, approval: bool = False, wait: str = ""
    ) -> None:
        super().__init__(hub, scope, name)
        timed = [{"type": "TimedWait", "waitTime": wait}] if wait else []
        self._tasks: dict[str, Json] = {
            "one": {"afterStageTasks": timed},
            "two": {"beforeStageTasks": [APPROVAL] if approval else []},
        }
        self.leaving = f"{name}-leaving"

    def _stage(self, name: str) -> Json:
        return super()._stage(name) | self._tasks[name]

    async def half_of_stage_one(self) -> None:
        """Finish one cluster of the stage and leave one in flight; wait until the run says so."""
        await self.written("one")
        await self.placement.report(self.stages["one"][0])
        await in_time(self.read, lambda run: says(_cluster(run, 0, 0), "Succeeded")[0] == "True")

    async def rest_of_stage_one(self) -> None:
        """Finish the other cluster of the stage."""
        await self.placement.report(self.stages["one"][1])

    async def stop(self) -> None:
        """Ask the run to stop."""
        await self.placement.set_state(self.run, "Stop")

    async def resume_once_stopped(self) -> None:
        """Wait until the run has stopped, and resume it."""
        await self.reaches("UpdateRunStopped")
        assert await self.scheduled("two")
        await self.placement.set_state(self.run, "Run")

    async def removes(self) -> None:
        """Wait until the run's status says that it removes the cluster."""

        def says_so(run: Json) -> bool:
            stage = run.get("status", {}).get("deletionStageStatus", {"clusters": []})
            return any(condition_of(each, "Started") for each in stage["clusters"])

        await in_time(self.read, says_so)

    async def release(self) -> None:
        """Release the binding of the cluster that the run removes."""
        await self._hold([])

    async def hold(self) -> None:
        """Create a binding of a cluster that is no longer picked, held by a finalizer."""
        await self.placement.member(self.leaving, {})
        await self.placement.binding(self.leaving, state="Unscheduled")
        await self._hold([HELD])

    async def _hold(self, finalizers: list[str]) -> None:
        await self.hub.patch(
            self.scope.binding,
            self.placement.binding_name(self.leaving),
            {"metadata": {"finalizers": finalizers}},
            namespace=self.placement.namespace,
        )

    async def approval_uids(self) -> list[str]:
        """The uids of the run's approval requests."""
        listing = await self.hub.list(
            self.scope.approval,
            namespace=self.placement.namespace,
            labels=f"{TARGET_UPDATE_RUN}={self.run}",
        )
        return [each["metadata"]["uid"] for each in listing.items]


def _cluster(run: Json, stage: int, position: int) -> Json:
    stages = run.get("status", {}).get("stagesStatus", [])
    return stages[stage]["clusters"][position] if stages else {}
