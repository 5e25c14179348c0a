"""Events report the progress of a placement (contract: placement 7.6)."""

from typing import Any

from api.kinds import EVENT
from tests.placement.world import World
from tests.support.eventually import eventually

Json = dict[str, Any]
ROLLED_OUT = [
    "PlacementRolloutStarted",
    "PlacementOverriddenSucceeded",
    "PlacementWorkSynchronized",
    "PlacementApplied",
    "PlacementAvailable",
    "PlacementRolloutCompleted",
]


async def told(world: World, last: str) -> list[Json]:
    """Wait for the event `last`; return the events of the placement in order."""

    async def look() -> list[Json] | None:
        fields = f"involvedObject.name={world.name}"
        events = (await world.hub.list(EVENT, fields=fields)).items
        reasons = [each["reason"] for each in events]
        return events if last in reasons else None

    found = await eventually(look)
    return sorted(found, key=lambda each: str(each["eventTime"]))


async def test_events_report_a_rollout_step_by_step(world: World) -> None:
    member = await world.join("a")
    placement = await world.place()
    await world.snapshot(0)
    await world.roll_out(member)
    await world.report(member)

    events = await told(world, "PlacementRolloutCompleted")

    assert [each["reason"] for each in events] == ROLLED_OUT
    assert events[-1]["message"] == (
        "Placement has finished the rollout process and reached the desired status"
    )
    for each in events:
        assert each["type"] == "Normal"
        assert each["involvedObject"]["uid"] == placement["metadata"]["uid"]
        assert each["involvedObject"]["kind"] == world.scope.placement.kind


async def test_an_event_reports_the_removal_of_a_placement(world: World) -> None:
    await world.place()
    await world.snapshot(0)

    await world.hub.delete(world.scope.placement, world.name, namespace=world.home)

    (event,) = await told(world, "PlacementCleanupFinalizerRemoved")
    assert event["message"] == "Deleted the snapshots and removed the placement cleanup finalizer"
