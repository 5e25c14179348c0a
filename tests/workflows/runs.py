"""States of runs that tests wait for."""

from api.kinds import Scope
from hub import Json
from planning.identity import RunRef
from tests.support.conditions import condition_of, says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement


async def reaches(
    placement: HandPlacement, run: str, reason: str, *, kind: str = "Progressing"
) -> Json:
    """Wait until a condition of the run has a reason."""
    return await eventually(
        lambda: placement.read_run(run), lambda seen: says(seen, kind)[1] == reason
    )


async def started(placement: HandPlacement, cluster: str, *, index: int = 0) -> Json:
    """Wait until a run has written a snapshot's index to a cluster's binding."""
    return await eventually(
        lambda: placement.read_binding(cluster),
        lambda seen: (
            seen["spec"]["resourceSnapshotName"] == f"{placement.name}-{index}-snapshot"
            and seen["spec"]["state"] == "Bound"
            and condition_of(seen, "RolloutStarted").get("observedGeneration")
            == seen["metadata"]["generation"]
        ),
    )


async def rolled_out(placement: HandPlacement, name: str, clusters: list[str]) -> Json:
    """Complete a run with one stage, one cluster after the other, and return it."""
    await placement.create({cluster: {"env": name} for cluster in clusters})
    selector = {"matchLabels": {"env": name}}
    await placement.strategy(name, [{"name": "all", "labelSelector": selector}])
    await placement.create_run(name, name, index="0")
    for cluster in clusters:
        await started(placement, cluster)
        await placement.report(cluster)
    return await reaches(placement, name, "UpdateRunSucceeded", kind="Succeeded")


def workflow_id(run: Json, scope: Scope) -> str:
    """Return the id of the run's workflow in Temporal."""
    meta = run["metadata"]
    namespace = meta.get("namespace", "")
    ref = RunRef(scope_name=scope.name, namespace=namespace, name=meta["name"], uid=meta["uid"])
    return ref.workflow_id
