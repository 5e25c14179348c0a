"""A run that waits for approval, with a placement of its own."""

from api.kinds import NAMESPACE
from hub import Json
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches


async def home(placement: HandPlacement) -> None:
    """Create the placement's namespace, if it has one."""
    if placement.namespace:
        await placement.hub.apply(NAMESPACE, {"metadata": {"name": placement.namespace}})


async def waiting_run(placement: HandPlacement, name: str) -> Json:
    """Create a run, and wait until it waits for approval of its only stage."""
    await placement.create({f"{name}-a": {"env": name}})
    stage = {
        "name": "one",
        "labelSelector": {"matchLabels": {"env": name}},
        "beforeStageTasks": [{"type": "Approval"}],
    }
    await placement.strategy(name, [stage])
    run = await placement.create_run(name, name, index="0")
    await reaches(placement, name, "UpdateRunWaiting")
    return run
