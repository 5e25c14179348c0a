"""Runs of one placement that wait for each other, as a rollout policy says."""

from api.runs import UpdateRun
from planning.policies.queueing import standing
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started


class QueuedRuns:
    """The runs of a placement on one cluster, one of each snapshot."""

    def __init__(self, placement: HandPlacement) -> None:
        self.placement = placement
        self.cluster = f"{placement.name}-a"

    async def prepare(self, mode: str, *, runs: int = 3, **stage: object) -> None:
        """Create the placement with snapshots for so many runs, and the policy's `mode`."""
        placement, name = self.placement, self.placement.name
        await placement.create({self.cluster: {"env": name}}, versions=runs)
        declared = {"name": "one", "labelSelector": {"matchLabels": {"env": name}}, **stage}
        await placement.strategy(name, [declared])
        target = {"kind": placement.scope.placement.kind, "name": name}
        spec = {"targetRefs": [target], "concurrentRuns": mode}
        await placement.write(placement.scope.policy, name, {"spec": spec})

    def name(self, index: int) -> str:
        """Return the name of the run of a snapshot."""
        return f"{self.placement.name}-{index}"

    async def create(self, index: int) -> str:
        """Create the run of a snapshot; return its name."""
        await self.placement.create_run(self.name(index), self.placement.name, index=str(index))
        return self.name(index)

    async def begins(self, index: int) -> None:
        """Wait until a run has handed the cluster out."""
        await started(self.placement, self.cluster, index=index)

    async def says_queued(self, index: int, text: str) -> None:
        """Wait until a run says that it waits, and for whom."""
        await eventually(
            lambda: self.placement.read_run(self.name(index)),
            lambda seen: says(seen, "Progressing") == ("False", "UpdateRunQueued", text),
        )

    async def finishes(self, index: int) -> None:
        """Let a run finish once it has begun."""
        await self.begins(index)
        await self.placement.report(self.cluster)
        await reaches(self.placement, self.name(index), "UpdateRunSucceeded", kind="Succeeded")

    async def begun(self) -> list[str]:
        """Return the runs that have begun and are not over."""
        kind, namespace = self.placement.scope.run, self.placement.namespace
        listed = await self.placement.hub.list(kind, namespace=namespace)
        runs = map(UpdateRun.from_wire, listed.items)
        return [
            each.metadata.name
            for each in runs
            if each.spec.placement_name == self.placement.name and standing(each).begun
        ]
