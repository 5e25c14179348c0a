"""Approval requests whose run is gone."""

import pytest

from api.names import RUN_UID, TARGET_UPDATE_RUN
from tests.bridge.support import BridgeProcess
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement

MADE = {RUN_UID: "gone"}
"""Annotations of an approval request that a workflow created for its run."""


async def orphan(placement: HandPlacement, name: str, **marks: dict[str, str]) -> None:
    """Write an approval request for the run `gone`, by default as its workflow would."""
    await placement.ask(name, run="gone", stage="one", **(marks or {"annotations": MADE}))


async def removed(placement: HandPlacement, name: str) -> None:
    await eventually(lambda: placement.find_approval(name), lambda seen: seen is None)


@pytest.mark.usefixtures("bridge")
async def test_a_request_created_just_as_its_run_was_deleted_is_removed(
    placement: HandPlacement, unique: str
) -> None:
    await orphan(placement, unique)
    await removed(placement, unique)


async def test_an_orphaned_request_is_removed_when_a_bridge_starts(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    await bridge.stop()
    await orphan(placement, unique)
    await bridge.start()
    await removed(placement, unique)


@pytest.mark.usefixtures("bridge")
@pytest.mark.parametrize("label", ["another", "gone"])
async def test_a_request_that_someone_else_created_stays(
    placement: HandPlacement, unique: str, label: str
) -> None:
    """A person may create one in advance, including its labels, for a future run."""
    await orphan(placement, unique, labels={TARGET_UPDATE_RUN: label})
    await orphan(placement, f"{unique}-orphan")
    await removed(placement, f"{unique}-orphan")
    assert await placement.find_approval(unique)
