"""One update run as tests see it: only through its object on the hub."""

from dataclasses import dataclass
from typing import Any

from hub import Json
from tests.conformance import objects, texts
from tests.conformance.objects import stage_of
from tests.conformance.vocabulary import Says
from tests.conformance.waiting import Expectation
from tests.conformance.world import World
from tests.support.conditions import condition_of


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a world's placement."""

    world: World
    name: str

    @classmethod
    async def create(
        cls,
        world: World,
        *,
        state: str | None = "Run",
        index: str | None = "0",
        suffix: str = "run",
        strategy: str = "",
    ) -> "Run":
        """Create a run; without `index`, it takes a snapshot of the hub's current content."""
        spec = {
            "placementName": world.name,
            "stagedRolloutStrategyName": strategy or world.name,
            "resourceSnapshotIndex": index,
            "state": state,
        }
        run = cls(world, f"{world.name}-{suffix}")
        given = {key: value for key, value in spec.items() if value is not None}
        await world.create(world.scope.run, run.name, {"spec": given})
        return run

    # -- actions ---------------------------------------------------------------------------

    async def read(self) -> Json:
        """The current run."""
        return await self.world.read(self.world.scope.run, self.name)

    async def set_state(self, state: str) -> Json:
        """Change the desired state of the run."""
        return await self.world.patch(self.world.scope.run, self.name, {"spec": {"state": state}})

    async def delete(self) -> None:
        """Delete the run."""
        await self.world.delete(self.world.scope.run, self.name)

    def request(self, side: str, stage: str = "one") -> str:
        """Name of the approval request of one side of a stage."""
        return f"{self.name}-{side}-{stage}"

    async def approve(self, side: str, stage: str = "one") -> None:
        """Approve one side of a stage as soon as the request exists."""
        await self.world.approve(self.request(side, stage))

    # -- checks ----------------------------------------------------------------------------

    async def until(self, expect: Expectation, *, within: float = 0) -> Json:
        """Wait until the run is as expected."""
        return await self.world.until(
            self.world.scope.run,
            self.name,
            lambda seen: seen and "status" in seen and expect(seen),
            within=within,
        )

    async def comes_to(self, says: Says, *, within: float = 0, **fill: Any) -> Json:
        """Wait until the run has a condition, with the exact message if `fill` is given."""
        seen = await self.until(lambda run: run and fits(run, says, fill), within=within)
        self.shows(seen, says, **fill)
        return seen

    async def stage_comes_to(self, says: Says, index: int = 0, **fill: Any) -> Json:
        """Wait until a stage has a condition; return the run."""
        seen = await self.until(
            lambda run: run and has_plan(run) and fits(stage_of(run, index), says, fill)
        )
        self.shows(seen, says, part=stage_of(seen, index), **fill)
        return seen

    async def cluster_comes_to(self, says: Says, short: str, index: int = 0, **fill: Any) -> Json:
        """Wait until a cluster has a condition; return the run."""
        seen = await self.until(
            lambda run: run and has_plan(run) and fits(self.cluster(run, short, index), says, fill)
        )
        self.shows(seen, says, part=self.cluster(seen, short, index), **fill)
        return seen

    async def stays(self, says: Says, *, seconds: float, **fill: Any) -> None:
        """Check that the run keeps a condition for a while."""
        await self.world.throughout(
            self.world.scope.run,
            self.name,
            lambda seen: seen and fits(seen, says, fill),
            seconds=seconds,
        )

    async def fails(self, error: str, *, within: float = 0) -> Json:
        """Wait until the run has failed, and check the complete message."""
        seen = await self.until(lambda run: run and condition_of(run, "Succeeded"), within=within)
        self.shows(seen, Says.RUN_FAILED, error=error)
        self.shows(seen, Says.RUN_ABORTED)
        return seen

    async def is_preempted(
        self, short: str = "a", *, stage: str = "one", index: int = 0, binding: str = ""
    ) -> Json:
        """Wait until the run has failed because others changed this cluster's binding (8.6a)."""
        text = self.preemption(short, stage=stage, binding=binding)
        seen = await self.fails(f"{texts.E_ABORT}: {text}")
        self.shows(seen, Says.CLUSTER_FAILED, part=self.cluster(seen, short, index), error=text)
        failed = stage_of(seen, index)
        self.shows(seen, Says.STAGE_ABORTED, part=failed)
        self.shows(seen, Says.STAGE_FAILED, part=failed, error=f"{texts.E_ABORT}: {text}")
        assert failed["endTime"]
        return seen

    def preemption(self, short: str, *, stage: str = "one", binding: str = "") -> str:
        """The error of a cluster whose binding, by default its first, was changed by others."""
        return texts.preempted(
            cluster=self.world.cluster(short),
            stage=stage,
            binding=self.world.reference(self.world.binding_name(binding or short)),
        )

    async def is_refused(self, error: str) -> Json:
        """Wait until initialization of the run has failed, and check the complete message."""
        seen = await self.until(lambda run: run and condition_of(run, "Initialized"))
        self.shows(seen, Says.RUN_NOT_INITIALIZED, error=error)
        assert objects.types_of(seen) == ["Initialized"]
        return seen

    async def succeeds(self) -> Json:
        """Wait until the run has succeeded."""
        seen = await self.until(lambda run: run and condition_of(run, "Succeeded"))
        self.shows(seen, Says.RUN_SUCCEEDED)
        self.shows(seen, Says.RUN_COMPLETED)
        return seen

    def shows(self, run: Json, says: Says, *, part: Json | None = None, **fill: Any) -> None:
        """Check a condition of the run, or of a part of its status, word for word."""
        row, found = says.value, condition_of(run if part is None else part, says.value.type)
        seen = (found.get("status"), found.get("reason"), found.get("message"))
        assert seen == (row.status, row.reason, _filled(row.message, fill))
        assert found["observedGeneration"] == run["metadata"]["generation"]
        self.world.note(says)

    def cluster(self, run: Json, short: str, index: int = 0) -> Json:
        """The entry of a cluster in a stage of the run's status."""
        entries = stage_of(run, index)["clusters"]
        return objects.first(entries, self.world.cluster(short))


def fits(part: Json, says: Says, fill: dict[str, str]) -> bool:
    """Return whether a part has the condition, with this message if `fill` is given."""
    row, found = says.value, condition_of(part, says.value.type)
    if (found.get("status"), found.get("reason")) != (row.status, row.reason):
        return False
    return not fill or found["message"] == _filled(row.message, fill)


def has_plan(run: Json) -> bool:
    """Return whether the run's status has its stages."""
    return "deletionStageStatus" in run.get("status", {})


def _filled(message: str, fill: dict[str, str]) -> str:
    # Not str.format, because error messages may contain braces.
    for key, value in fill.items():
        message = message.replace("{" + key + "}", value)
    return message
