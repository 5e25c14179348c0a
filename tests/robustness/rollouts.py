"""Runs with two stages, with the people and members involved, on a hub that may be unreachable."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TypeVar

from aiohttp import web

from api import names
from api.base import format_time
from api.kinds import EVENT, Scope
from hub import Hub, HubError, Json
from planning.events import CLUSTER_NAMESPACE
from tests.support.conditions import condition_of, says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement

APPROVAL: Json = {"type": "Approval"}

SeenT = TypeVar("SeenT")


async def in_time(
    look: Callable[[], Awaitable[SeenT]],
    expect: Callable[[SeenT], object],
) -> SeenT:
    """Like `eventually`, but for a hub that does not answer at times."""

    async def answered() -> SeenT | None:
        try:
            return await look()
        except HubError:
            return None

    found = await eventually(answered, lambda seen: seen is not None and expect(seen))
    assert found is not None
    return found


class Rollout:
    """One run with the stages `one` and `two`, each with two clusters."""

    def __init__(self, hub: Hub, scope: Scope, name: str) -> None:
        self.hub = hub
        self.scope = scope
        self.name = name
        """Name of the placement, the strategy and the first run."""
        self.run = name
        self.index = 0
        """Index of the snapshot that the latest run rolls out."""
        self.placement = HandPlacement(
            hub, scope, name, namespace=name if namespaced(scope) else ""
        )
        self.stages = {
            stage: [f"{name}-{stage}-{each}" for each in "ab"] for stage in ("one", "two")
        }

    @property
    def clusters(self) -> list[str]:
        """All clusters, in the order in which they are updated."""
        return [*self.stages["one"], *self.stages["two"]]

    async def begin(self, *, gate: bool = False, gate_after: bool = False) -> None:
        """Create everything including the run.

        `gate` requires an approval before stage two, `gate_after` one after stage one.
        """
        await self.prepare(gate=gate, gate_after=gate_after)
        await self.placement.create_run(self.name, self.name, index="0")

    async def prepare(self, *, gate: bool = False, gate_after: bool = False) -> None:
        """Create everything except the run."""
        members = {
            cluster: {"stage": f"{self.name}-{stage}"}
            for stage, clusters in self.stages.items()
            for cluster in clusters
        }
        await self.placement.create(members)
        after = {"afterStageTasks": [APPROVAL]} if gate_after else {}
        before = {"beforeStageTasks": [APPROVAL]} if gate else {}
        stages = [self._stage("one") | after, self._stage("two") | before]
        await self.placement.strategy(self.name, stages)

    async def again(self) -> None:
        """Create another run, for the next snapshot."""
        self.index += 1
        self.run = f"{self.name}-{self.index}"
        await self.placement.snapshot(self.index)
        await self.placement.create_run(self.run, self.name, index=str(self.index))

    def _stage(self, name: str) -> Json:
        selector = {"matchLabels": {"stage": f"{self.name}-{name}"}}
        return {"name": name, "labelSelector": selector, "maxConcurrency": 2}

    # -- actions of members and people ------------------------------------------------------

    async def update(self, stage: str) -> None:
        """Wait until the clusters of a stage are written, and report them as available."""
        await self.written(stage)
        await asyncio.gather(*(self.placement.report(each) for each in self.stages[stage]))

    async def written(self, stage: str) -> None:
        """Wait until all clusters of a stage are in flight."""
        await asyncio.gather(*(self._announced(each) for each in self.stages[stage]))

    async def _announced(self, cluster: str) -> Json:
        return await in_time(
            lambda: self.placement.read_binding(cluster),
            lambda seen: (
                seen["spec"]["state"] == "Bound"
                and seen["spec"]["resourceSnapshotName"] == f"{self.name}-{self.index}-snapshot"
                and condition_of(seen, "RolloutStarted").get("observedGeneration")
                == seen["metadata"]["generation"]
            ),
        )

    async def at_gate(self) -> str:
        """Update stage one and wait at the gate of stage two; return the request's name."""
        await self.update("one")
        return await self.at_gate_asked()

    async def at_gate_asked(self) -> str:
        """Wait until the run has requested the approval; return the request's name."""
        await in_time(self.read, _asks)
        return f"{self.name}-before-two"

    async def approved(self, request: str) -> None:
        """Approve, retrying while the hub is coming back."""

        async def approve() -> bool:
            await self.placement.approve(request)
            return True

        await in_time(approve, bool)

    async def create_approval(self, *, stage: str) -> None:
        """Create the request for stage two before the run does, for any target stage."""
        await self.placement.ask(f"{self.name}-before-two", run=self.name, stage=stage)

    async def approve_and_finish(self) -> None:
        """Approve the gate and wait until the run succeeds."""
        await self.approved(f"{self.name}-before-two")
        await self.finish()

    async def from_mid_stage_to_end(self) -> None:
        """Finish a rollout whose first stage is written."""
        await self.at_gate()
        await self.approve_and_finish()

    async def from_begin_to_end(self) -> None:
        """Run the whole rollout, with its gate."""
        await self.begin(gate=True)
        await self.from_mid_stage_to_end()

    async def finish(self) -> None:
        """Update stage two and wait until the run succeeds."""
        await self.update("two")
        await self.succeeded()

    # -- changes by hand --------------------------------------------------------------------

    async def patch_status(self, patch: list[Json]) -> None:
        """Change the run's status behind the engine's back."""
        await self.hub.patch(
            self.scope.run,
            self.name,
            patch,
            namespace=self.placement.namespace,
            subresource="status",
        )

    async def annotate(self, text: str) -> None:
        """Add a label and an annotation to the run."""
        await self._patch_metadata({"labels": {"by-hand": text}, "annotations": {"by-hand": text}})

    async def without_finalizer(self) -> None:
        """Remove all finalizers from the run."""
        await self._patch_metadata({"finalizers": None})

    async def _patch_metadata(self, metadata: Json) -> None:
        patch = {"metadata": metadata}
        await self.hub.patch(self.scope.run, self.name, patch, namespace=self.placement.namespace)

    # -- checks of the current state --------------------------------------------------------

    async def read(self) -> Json:
        """The current run."""
        return await self.placement.read_run(self.run)

    async def reaches(self, reason: str, *, kind: str = "Progressing") -> Json:
        """Wait until a condition of the run has a reason."""
        return await in_time(self.read, lambda seen: says(seen, kind)[1] == reason)

    async def succeeded(self) -> None:
        """Wait for success; check the whole status, and that each run wrote each binding once."""
        # A test may have added a condition Succeeded by hand, which stays until the run ends.
        ends = ("UpdateRunSucceeded", "UpdateRunFailed")
        run = await in_time(self.read, lambda seen: says(seen, "Progressing")[1] in ends)
        assert says(run, "Succeeded") == (
            "True",
            "UpdateRunSucceeded",
            "All stages are completed successfully",
        )
        assert says(run, "Initialized")[:2] == ("True", "UpdateRunInitializedSuccessfully")
        assert names.RUN_FINALIZER in run["metadata"]["finalizers"]
        assert self._listed(run) == self.stages
        for stage in [*run["status"]["stagesStatus"], run["status"]["deletionStageStatus"]]:
            assert says(stage, "Succeeded")[:2] == ("True", "StageUpdatingSucceeded")
            for cluster in stage["clusters"]:
                assert says(cluster, "Started")[0] == "True"
                assert says(cluster, "Succeeded")[:2] == ("True", "ClusterUpdatingSucceeded")
        assert await self.generations() == dict.fromkeys(self.clusters, 2 + self.index)

    async def told_times_since(self, begun: datetime) -> None:
        """Check that the times in the status are in order, and between `begun` and now."""
        begin, end = format_time(begun), format_time(datetime.now(UTC))
        for stage in (await self.read())["status"]["stagesStatus"]:
            times = [begin, stage["startTime"], stage["endTime"], end]
            assert times == sorted(times)

    async def approval_after_one_counts(self) -> None:
        """Wait until the run's status says that stage one was approved afterwards."""

        def says_so(run: Json) -> bool:
            (task,) = self._stage_of(run, "one")["afterStageTaskStatus"]
            return bool(condition_of(task, "ApprovalRequestApproved"))

        await in_time(self.read, says_so)

    async def started(self, stage: str) -> None:
        """Wait until the run's status says that all clusters of a stage have started."""

        def says_so(run: Json) -> bool:
            found = self._stage_of(run, stage).get("clusters", [])
            return bool(found) and all(condition_of(each, "Started") for each in found)

        await in_time(self.read, says_so)

    async def scheduled(self, stage: str) -> bool:
        """Return whether no cluster of a stage has been written yet."""
        bindings = [await self.placement.read_binding(each) for each in self.stages[stage]]
        return all(each["spec"]["state"] == "Scheduled" for each in bindings)

    async def settled(self) -> Json:
        """Return the run once its status has not changed for a second."""
        while True:
            before = await self.read()
            await asyncio.sleep(1)
            after = await self.read()
            if before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]:
                return after

    async def absent(self) -> None:
        """Wait until the run does not exist."""

        async def runs() -> list[str]:
            listing = await self.hub.list(self.scope.run, namespace=self.placement.namespace)
            return [each["metadata"]["name"] for each in listing.items]

        await in_time(runs, lambda found: self.name not in found)

    async def watchable(self) -> None:
        """Wait until the hub accepts watches of runs, which it rejects just after a restart.

        A rejected client lists again, and would never learn that a version was compacted.
        """

        async def has_event() -> bool:
            watch = self.hub.watch(
                self.scope.run, resource_version="0", namespace=self.placement.namespace
            )
            async with aclosing(watch) as events:
                async for _ in events:
                    return True
            return False

        await in_time(has_event, bool)

    async def told(self) -> list[str]:
        """The reasons of the run's events, oldest first."""
        namespace = self.placement.namespace or CLUSTER_NAMESPACE
        fields = f"involvedObject.name={self.run}"
        found = (await self.hub.list(EVENT, namespace=namespace, fields=fields)).items
        return [each["reason"] for each in sorted(found, key=lambda each: each["eventTime"])]

    async def approval_names(self) -> list[str]:
        """The names of all approval requests."""
        kind = self.scope.approval
        listing = await self.hub.list(kind, namespace=self.placement.namespace)
        return [each["metadata"]["name"] for each in listing.items]

    async def generations(self) -> dict[str, int]:
        """How often the spec of each binding was written, including its creation."""
        bindings = [await self.placement.read_binding(each) for each in self.clusters]
        return {each["spec"]["targetCluster"]: each["metadata"]["generation"] for each in bindings}

    @staticmethod
    def _stage_of(run: Json, stage: str) -> Json:
        stages = run.get("status", {}).get("stagesStatus", [])
        return next((each for each in stages if each["stageName"] == stage), {})

    @staticmethod
    def _listed(run: Json) -> dict[str, list[str]]:
        return {
            stage["stageName"]: [each["clusterName"] for each in stage["clusters"]]
            for stage in run["status"]["stagesStatus"]
        }


class Rollouts:
    """Runs of both scopes, driven in parallel."""

    def __init__(self, rollouts: list[Rollout]) -> None:
        self._rollouts = rollouts

    def __add__(self, other: "Rollouts") -> "Rollouts":
        return Rollouts(self._rollouts + other._rollouts)

    def __iter__(self) -> Iterator[Rollout]:
        return iter(self._rollouts)

    async def each(self, act: Callable[[Rollout], Awaitable[object]]) -> None:
        """Call a function with each run, in parallel."""
        await asyncio.gather(*(act(rollout) for rollout in self))


def writes_binding(rollout: Rollout, *, status: bool) -> Callable[[web.Request], bool]:
    """Match one of the two writes to a run's first binding."""
    binding = f"/{rollout.placement.binding_name(rollout.clusters[0])}"
    end = binding + ("/status" if status else "")
    return lambda request: request.method == "PATCH" and request.path.endswith(end)


def namespaced(scope: Scope) -> bool:
    """Return whether the runs of a scope are namespaced."""
    return bool(scope.run.namespaced)


def _asks(run: Json) -> bool:
    """Return whether the run waits for the requested approval before stage two."""
    stages = run.get("status", {}).get("stagesStatus", [])
    tasks = stages[1].get("beforeStageTaskStatus", []) if len(stages) > 1 else []
    asked = bool(tasks and condition_of(tasks[0], "ApprovalRequestCreated"))
    return asked and says(run, "Progressing")[1] == "UpdateRunWaiting"
