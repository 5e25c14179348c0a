"""Runs from their creation to their success."""

import pytest

from tests.support.hand_placement import HandPlacement, says
from tests.workflows.runs import reaches, started

pytestmark = pytest.mark.usefixtures("engine")


async def test_a_run_updates_stage_after_stage_and_succeeds(
    placement: HandPlacement, unique: str
) -> None:
    first, second = f"{unique}-a", f"{unique}-b"
    await placement.create({first: {"env": unique + "1"}, second: {"env": unique + "2"}})
    await placement.strategy(
        unique,
        [
            {"name": "one", "labelSelector": {"matchLabels": {"env": unique + "1"}}},
            {"name": "two", "labelSelector": {"matchLabels": {"env": unique + "2"}}},
        ],
    )
    await placement.create_run(unique, unique, index="0")

    binding = await started(placement, first)
    assert binding["spec"]["resourceSnapshotName"] == f"{unique}-0-snapshot"
    assert (await placement.read_binding(second))["spec"]["state"] == "Scheduled"
    await placement.report(first)
    await started(placement, second)
    await placement.report(second)

    run = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    assert says(run, "Initialized")[:2] == ("True", "UpdateRunInitializedSuccessfully")
    assert says(run, "Progressing") == ("False", "UpdateRunSucceeded", "All stages are completed")
    assert [stage["stageName"] for stage in run["status"]["stagesStatus"]] == ["one", "two"]
    for stage in [*run["status"]["stagesStatus"], run["status"]["deletionStageStatus"]]:
        assert says(stage, "Progressing")[:2] == ("False", "StageUpdatingSucceeded")
        assert says(stage, "Succeeded")[:2] == ("True", "StageUpdatingSucceeded")
