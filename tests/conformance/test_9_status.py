"""Section 9's rows about the run's own status, when people edit it by hand.

KubeFleet reads its status back, and fails. Here the workflow has the state, and writes it again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from hub import Json
from tests.conformance.objects import cluster_names, stage_of, types_of
from tests.conformance.runs import Run
from tests.conformance.situations import at_a_gate, goes_through, in_flight, started
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition, condition_of

COPY = "stagedUpdateStrategySnapshot"


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of a status by hand, named after the check of section 9 that it would fail."""

    name: str
    change: Callable[[Json], object]

    def __str__(self) -> str:
        return self.name


def stages(status: Json) -> list[Json]:
    found: list[Json] = status["stagesStatus"]
    return found


def clusters(status: Json) -> list[Json]:
    found: list[Json] = stages(status)[0]["clusters"]
    return found


def says(part: Json, kind: str, status: str) -> None:
    """Give a stage or cluster a condition that it has not reached."""
    kept = [each for each in part.get("conditions", []) if each["type"] != kind]
    part["conditions"] = [*kept, condition(kind, status, 1)]


EDITS = [
    Edit("the strategy copy is lost", lambda status: status.pop(COPY)),
    Edit("the stages are lost", lambda status: status.pop("stagesStatus")),
    Edit("everything is lost", lambda status: status.clear()),
    Edit("a stage is dropped", lambda status: stages(status).pop()),
    Edit("a stage is renamed", lambda status: stages(status)[1].update(stageName="other")),
    Edit("a cluster is dropped", lambda status: clusters(status).pop()),
    Edit("clusters change places", lambda status: clusters(status).reverse()),
    Edit(
        "a finished stage has an unfinished cluster",
        lambda status: says(stages(status)[0], "Succeeded", "True"),
    ),
    Edit(
        "a stage is finished after the active one",
        lambda status: says(stages(status)[1], "Succeeded", "True"),
    ),
    Edit("a stage has failed", lambda status: says(stages(status)[0], "Succeeded", "False")),
    Edit("two stages are active", lambda status: says(stages(status)[1], "Progressing", "True")),
    Edit("a cluster is done", lambda status: says(clusters(status)[0], "Succeeded", "True")),
    Edit("a cluster has failed", lambda status: says(clusters(status)[0], "Succeeded", "False")),
    Edit("the deletion stage is lost", lambda status: status.pop("deletionStageStatus")),
    Edit(
        "the deletion stage is active",
        lambda status: says(status["deletionStageStatus"], "Progressing", "True"),
    ),
    Edit(
        "the deletion stage has failed",
        lambda status: says(status["deletionStageStatus"], "Succeeded", "False"),
    ),
]


async def edit(run: Run, change: Callable[[Json], object]) -> None:
    """Change the status, based on a version read just before."""
    path = {"op": "replace", "path": "/status"}
    status = (await run.read())["status"]
    change(status)
    world = run.world
    await world.hub.patch(
        world.scope.run,
        run.name,
        [path | {"value": status}],
        namespace=world.namespace,
        subresource="status",
    )


@pytest.mark.parametrize("meddling", EDITS, ids=str)
async def test_9_a_status_edited_by_hand_is_written_again(world: World, meddling: Edit) -> None:
    run = await at_a_gate(world)
    before = await run.read()
    await edit(run, meddling.change)
    seen = await goes_through(run)
    assert seen["status"][COPY] == before["status"][COPY]
    assert cluster_names(seen, 0) == world.clusters("ab")
    for index in (0, 1, -1):
        assert stage_of(seen, index)["stageName"] == stage_of(before, index)["stageName"]
        assert types_of(stage_of(seen, index)) == ["Progressing", "Succeeded"]
        run.shows(seen, Says.STAGE_SUCCEEDED, part=stage_of(seen, index))
    for index, short in ((0, "a"), (0, "b"), (1, "c")):
        run.shows(seen, Says.CLUSTER_SUCCEEDED, part=run.cluster(seen, short, index))


async def test_9_a_status_with_too_many_clusters_in_flight_does_not_block_the_run(
    world: World,
) -> None:
    run = await in_flight(world, "abc")
    await edit(run, lambda status: says(clusters(status)[2], "Started", "True"))
    await world.report("a")
    await world.handed_out("b")
    await world.untouched("c")
    await world.update("b", "c")
    await run.succeeds()


async def test_8_4_a_run_waits_for_a_cluster_edited_to_have_failed(world: World) -> None:
    """Step 3: only a run that has lost its own state would read that from its status."""
    run = await in_flight(world)
    await edit(run, lambda status: says(clusters(status)[0], "Succeeded", "False"))
    await world.report("a")
    await started(run, "b")
    await world.report("b")
    seen = await run.succeeds()
    assert condition_of(run.cluster(seen, "a"), "Succeeded")["status"] == "True"
