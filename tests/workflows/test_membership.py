"""Clusters that leave or join a run in progress, on real servers (policies 2.1, membership)."""

import asyncio

import pytest
from temporalio.client import Client

from api.kinds import Scope
from hub import Json
from tests.support.conditions import condition_of
from tests.support.eventually import eventually
from tests.support.hand_placement import LATEST, HandPlacement
from tests.workflows.runs import reaches, started, workflow_id

pytestmark = pytest.mark.usefixtures("engine")

BOTH: Json = {"removed": "Skip", "added": "Append"}


class Fleet:
    """A placement on clusters of two stages, and its scheduler."""

    def __init__(self, placement: HandPlacement) -> None:
        self.placement = placement
        self.name = placement.name
        """Also of the strategy, the policy and the run."""

    def __getitem__(self, short: str) -> str:
        """Return the name of a cluster."""
        return f"{self.name}-{short}"

    def _labels(self, stage: str) -> dict[str, str]:
        return {"stage": f"{self.name}-{stage}"}

    async def begin(self, membership: Json, **stages: str) -> None:
        """Create a run; each letter of a stage's value is a cluster."""
        placement = self.placement
        members = {self[each]: self._labels(name) for name in stages for each in stages[name]}
        await placement.create(members)
        declared = [
            {"name": name, "labelSelector": {"matchLabels": self._labels(name)}} for name in stages
        ]
        await placement.strategy(self.name, declared)
        target = {"kind": placement.scope.strategy.kind, "name": self.name}
        spec = {"targetRefs": [target], "membership": membership}
        await placement.write(placement.scope.policy, self.name, {"spec": spec})
        await placement.create_run(self.name, self.name, index="0")

    async def join(self, short: str, stage: str) -> None:
        """Pick another cluster."""
        await self.placement.member(self[short], self._labels(stage))
        await self.placement.binding(self[short])

    async def relabel(self, short: str, stage: str) -> None:
        """Move a cluster to another stage by its label."""
        await self.placement.member(self[short], self._labels(stage))

    async def unpick(self, short: str) -> None:
        """Pick a cluster no longer."""
        await self._schedule(short, {"state": "Unscheduled"})

    async def unbind(self, short: str) -> None:
        """Delete the binding of a cluster."""
        placement = self.placement
        name = placement.binding_name(self[short])
        await placement.hub.delete(placement.scope.binding, name, namespace=placement.namespace)

    async def replan(self, *kept: str) -> None:
        """Schedule anew by another policy, which keeps these clusters, as a scheduler does it."""
        placement = self.placement
        old = {"metadata": {"labels": {LATEST: "false"}}}
        kind = placement.scope.policy_snapshot
        await placement.hub.patch(kind, f"{self.name}-0", old, namespace=placement.namespace)
        await placement.policy(1, scheduled="")
        for each in kept:
            await self._schedule(each, {"schedulingPolicySnapshotName": f"{self.name}-1"})
        await placement.say_scheduled(1, "True")

    async def _schedule(self, short: str, spec: Json) -> None:
        placement = self.placement
        name, kind = placement.binding_name(self[short]), placement.scope.binding
        await placement.hub.patch(kind, name, {"spec": spec}, namespace=placement.namespace)

    async def update(self, *clusters: str) -> None:
        """Let the run update these clusters, one after the other."""
        for each in clusters:
            await started(self.placement, self[each])
            await self.placement.report(self[each])

    async def ended(self) -> str:
        """Wait until the run has succeeded; return its message."""
        run = await reaches(self.placement, self.name, "UpdateRunSucceeded", kind="Succeeded")
        return str(condition_of(run, "Succeeded")["message"])

    async def end_of(self, short: str) -> Json:
        """Wait until the run is done with a cluster; return its condition Succeeded."""

        async def look() -> Json:
            stages = (await self.placement.read_run(self.name))["status"]["stagesStatus"]
            (found,) = [
                cluster
                for stage in stages
                for cluster in stage["clusters"]
                if cluster["clusterName"] == self[short]
            ]
            ended = [each for each in found.get("conditions", []) if each["type"] == "Succeeded"]
            return ended[0] if ended else {}

        return await eventually(look, bool)

    async def listed(self, short: str) -> Json:
        """Wait until the run's report lists a cluster; return what it says."""
        scope, namespace = self.placement.scope, self.placement.namespace

        async def look() -> Json:
            found = await self.placement.hub.find(scope.report, self.name, namespace=namespace)
            clusters = found.get("status", {}).get("clusters", []) if found else []
            return next((each for each in clusters if each["name"] == self[short]), {})

        return await eventually(look, bool)


@pytest.fixture
def fleet(placement: HandPlacement) -> Fleet:
    """A fleet that is not on the hub yet."""
    return Fleet(placement)


async def test_who_leaves_is_skipped_and_who_joins_is_updated_last(fleet: Fleet) -> None:
    await fleet.begin(BOTH, one="bcd", two="x")
    await started(fleet.placement, fleet["b"])
    await fleet.unpick("c")
    await fleet.join("a", "one")
    await fleet.join("y", "two")
    left = await fleet.end_of("c")
    assert (left["status"], left["reason"]) == ("False", "ClusterLeft")
    assert (await fleet.listed("c"))["outcome"] == "Left"
    await fleet.update("b", "d", "a", "x")
    await fleet.join("z", "one")
    late = await fleet.listed("z")
    assert (late["outcome"], late["reason"]) == ("NotUpdated", "ClusterJoinedTooLate")
    await fleet.update("y")
    kind = fleet.placement.scope.report.kind
    assert await fleet.ended() == (
        f"All stages are completed; 1 cluster left, see {kind} {fleet.name}"
    )
    unpicked = await fleet.placement.read_binding(fleet["c"])
    assert (unpicked["spec"]["state"], unpicked["spec"]["resourceSnapshotName"]) == (
        "Unscheduled",
        "",
    )
    assert (await fleet.placement.read_binding(fleet["z"]))["spec"]["state"] == "Scheduled"


@pytest.mark.parametrize("how", ["unpicked", "unbound", "relabelled"])
async def test_a_cluster_that_leaves_in_flight_is_not_waited_for(fleet: Fleet, how: str) -> None:
    await fleet.begin(BOTH, one="ab", two="x")
    await started(fleet.placement, fleet["a"])
    match how:
        case "unpicked":
            await fleet.unpick("a")
        case "unbound":
            await fleet.unbind("a")
        case _:
            await fleet.relabel("a", "two")
    assert (await fleet.end_of("a"))["reason"] == "ClusterLeft"
    await fleet.update("b", "x")
    assert "; 1 cluster left, see" in await fleet.ended()


async def test_another_policy_may_move_the_pick(fleet: Fleet) -> None:
    await fleet.begin(BOTH, one="abc")
    await started(fleet.placement, fleet["a"])
    await fleet.unpick("b")
    await fleet.replan("a", "c")
    assert (await fleet.end_of("b"))["reason"] == "ClusterLeft"
    await fleet.update("a", "c")
    assert "; 1 cluster left, see" in await fleet.ended()


async def test_a_run_is_told_once_of_clusters_that_it_ignores(
    fleet: Fleet, scope: Scope, temporal: Client
) -> None:
    await fleet.begin({"added": "Ignore"}, one="ab")
    await started(fleet.placement, fleet["a"])
    run = await fleet.placement.read_run(fleet.name)
    await fleet.join("z", "one")
    assert (await fleet.listed("z"))["reason"] == "ClusterIgnored"
    await fleet.relabel("z", "one")
    await fleet.update("a", "b")
    assert await fleet.ended() == "All stages are completed successfully"

    history = await temporal.get_workflow_handle(workflow_id(run, scope)).fetch_history()
    signals = [each.workflow_execution_signaled_event_attributes for each in history.events]
    rechecks = [each.input.payloads[0].data for each in signals if each.signal_name == "recheck"]
    # Each bridge sends its own. Whoever joins may be seen half joined first; the new labels say
    # nothing new.
    assert len(set(rechecks)) <= 2


async def test_without_a_policy_a_cluster_that_joins_ends_the_run(fleet: Fleet) -> None:
    await fleet.begin({"removed": "Skip"}, one="ab")
    await started(fleet.placement, fleet["a"])
    await fleet.join("z", "one")
    run = await reaches(fleet.placement, fleet.name, "UpdateRunFailed", kind="Succeeded")
    assert (
        "the number of clusters in index `0` stage has changed"
        in (condition_of(run, "Succeeded")["message"])
    )


async def test_many_clusters_join_at_once(fleet: Fleet) -> None:
    await fleet.begin(BOTH, one="a")
    await started(fleet.placement, fleet["a"])
    await asyncio.gather(*(fleet.join(each, "one") for each in "defghij"))
    await fleet.update(*"a")

    async def planned() -> list[str]:
        run = await fleet.placement.read_run(fleet.name)
        return [each["clusterName"] for each in run["status"]["stagesStatus"][0]["clusters"]]

    found = await eventually(planned, lambda seen: len(seen) == 8)
    await fleet.update(*(each.removeprefix(f"{fleet.name}-") for each in found[1:]))
    assert await fleet.ended() == "All stages are completed successfully"
