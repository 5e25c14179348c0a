"""Approval requests whose run is gone."""

import pytest

from api.names import RUN_UID, TARGET_UPDATE_RUN
from tests.bridge.support import BridgeProcess
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement

MADE = {RUN_UID: "gone"}
"""Annotation of what a workflow makes for its run."""


async def orphan(placement: HandPlacement, name: str, **marks: dict[str, str]) -> None:
    """Write an approval request for the run `gone`, by default as its workflow does."""
    await placement.ask(name, run="gone", stage="one", **(marks or {"annotations": MADE}))


async def removed(placement: HandPlacement, name: str) -> None:
    await eventually(lambda: placement.find_approval(name), lambda seen: seen is None)


@pytest.mark.usefixtures("bridge")
async def test_a_request_made_just_when_its_run_went_is_removed(
    placement: HandPlacement, unique: str
) -> None:
    await orphan(placement, unique)
    await removed(placement, unique)


async def test_a_request_left_behind_is_removed_by_a_later_bridge(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    await bridge.stop()
    await orphan(placement, unique)
    await bridge.start()
    await removed(placement, unique)


@pytest.mark.usefixtures("bridge")
@pytest.mark.parametrize("label", ["another", "gone"])
async def test_a_request_that_somebody_else_made_stays(
    placement: HandPlacement, unique: str, label: str
) -> None:
    """A person may prepare one, labels and all, for a run that is still to come."""
    await orphan(placement, unique, labels={TARGET_UPDATE_RUN: label})
    await orphan(placement, f"{unique}-orphan")
    await removed(placement, f"{unique}-orphan")
    assert await placement.find_approval(unique)
