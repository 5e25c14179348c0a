"""Approval requests whose run is gone."""

import pytest

from api.names import TARGET_UPDATE_RUN
from hub import Hub, Json
from tests.bridge.support import BridgeProcess
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement


def request(placement: HandPlacement, name: str, *, label: str = "") -> Json:
    """An approval request for the run `gone`, labelled as if made for a run."""
    spec = {"parentStageRollout": "gone", "targetStage": "one"}
    labels = {TARGET_UPDATE_RUN: label} if label else {}
    return placement.body({"spec": spec}, name=name, labels=labels)


async def removed(placement: HandPlacement, name: str) -> None:
    await eventually(lambda: placement.find_approval(name), lambda seen: seen is None)


@pytest.mark.usefixtures("bridge")
async def test_a_request_made_just_when_its_run_went_is_removed(
    hub: Hub, placement: HandPlacement, unique: str
) -> None:
    await hub.create(placement.scope.approval, request(placement, unique, label="gone"))
    await removed(placement, unique)


async def test_a_request_left_behind_is_removed_by_a_later_bridge(
    hub: Hub, bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    await bridge.stop()
    await hub.create(placement.scope.approval, request(placement, unique, label="gone"))
    await bridge.start()
    await removed(placement, unique)


@pytest.mark.usefixtures("bridge")
@pytest.mark.parametrize("label", ["", "another"])
async def test_a_request_that_somebody_else_made_stays(
    hub: Hub, placement: HandPlacement, unique: str, label: str
) -> None:
    kind, orphan = placement.scope.approval, f"{unique}-orphan"
    await hub.create(kind, request(placement, unique, label=label))
    await hub.create(kind, request(placement, orphan, label="gone"))
    await removed(placement, orphan)
    assert await placement.find_approval(unique)
