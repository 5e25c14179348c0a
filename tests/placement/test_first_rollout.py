"""The life of a placement that is rolled out by runs (contract: placement 7.5)."""

from tests.placement.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually


async def test_a_placement_without_a_run_is_scheduled_and_waits(world: World) -> None:
    members = [await world.join(name) for name in ("a", "b", "c")]
    await world.place()

    scheduled = await world.told("Scheduled", status="True")
    started = await world.told("RolloutStarted", reason="RolloutControlledByExternalController")

    assert scheduled["reason"] == "SchedulingPolicyFulfilled"
    assert "no resource snapshot name is observed across clusters" in started["message"]
    assert f"check the {world.scope.run.kind} resources" in started["message"]
    body = await world.placement()
    assert body is not None
    status = body["status"]
    assert [each["clusterName"] for each in status["placementStatuses"]] == members
    assert "selectedResources" not in status
    assert "observedResourceIndex" not in status


async def test_a_rollout_proceeds_cluster_by_cluster(world: World) -> None:
    first, second = [await world.join(name) for name in ("a", "b")]
    await world.place()
    await world.snapshot(0)

    await world.roll_out(first)
    await world.report(first)
    await world.bound(first, "Available", status="True")

    partly = await world.told("RolloutStarted", status="Unknown")
    assert "no resource snapshot name" in partly["message"] or "different" in partly["message"]
    await eventually(lambda: _differs(world))

    await world.roll_out(second)
    await world.report(second)

    await world.told("Available", status="True", reason="ResourceAvailable")
    body = await world.placement()
    assert body is not None
    assert body["status"]["observedResourceIndex"] == "0"
    kinds = [each["kind"] for each in body["status"]["selectedResources"]]
    assert kinds == (["ConfigMap"] if world.home else ["Namespace", "ConfigMap"])
    assert [each["type"] for each in body["status"]["conditions"]] == [
        f"{world.scope.placement.kind}{kind}"
        for kind in (
            "Scheduled",
            "RolloutStarted",
            "Overridden",
            "WorkSynchronized",
            "Applied",
            "Available",
        )
    ]


async def _differs(world: World) -> bool:
    body = await world.placement()
    found = condition_of(body, f"{world.scope.placement.kind}RolloutStarted")
    return "different resource snapshot versions" in found.get("message", "")
