"""Runs on a real API server (contract: update-runs 1, 2 and 16)."""

from typing import Any

import pytest

from api.kinds import Scope
from api.runs import RunState
from hub import Hub
from tests.api.conftest import Make
from tests.api.samples import (
    change,
    dry_create,
    place,
    refusal,
    report,
    run_spec,
    sample,
)
from tests.support.conditions import condition

DENIED = {
    ("Initialize", "Stop"): "cannot transition from Initialize to Stop",
    ("Run", "Initialize"): "cannot transition from Run to Initialize",
    ("Stop", "Initialize"): "cannot transition from Stop to Initialize",
}


async def test_a_run_starts_in_state_initialize(hub: Hub, scope: Scope) -> None:
    stored = await dry_create(hub, scope.run, run_spec())
    assert stored["spec"] == run_spec(state="Initialize")


@pytest.mark.parametrize("state", RunState)
async def test_a_run_may_be_created_in_any_state(hub: Hub, scope: Scope, state: RunState) -> None:
    stored = await dry_create(hub, scope.run, run_spec(state=state))
    assert stored["spec"]["state"] == state


@pytest.mark.parametrize("state", ["", "Pause", "run"])
async def test_other_states_are_refused(hub: Hub, scope: Scope, state: str) -> None:
    text = await refusal(dry_create(hub, scope.run, run_spec(state=state)))
    assert 'supported values: "Initialize", "Run", "Stop"' in text


@pytest.mark.parametrize("new", RunState)
@pytest.mark.parametrize("old", RunState)
async def test_only_allowed_state_transitions_are_accepted(
    hub: Hub, scope: Scope, make: Make, unique: str, old: RunState, new: RunState
) -> None:
    await make(scope.run, sample(scope.run, unique, run_spec(state=old)))
    moving = change(hub, scope.run, unique, {"spec": {"state": new}})
    if (old, new) in DENIED:
        text = await refusal(moving)
        assert f"invalid state transition: {DENIED[old, new]}" in text
    else:
        assert (await moving)["spec"]["state"] == new


@pytest.mark.parametrize(
    "field", ["placementName", "resourceSnapshotIndex", "stagedRolloutStrategyName"]
)
async def test_what_is_rolled_out_cannot_be_changed(
    hub: Hub, scope: Scope, make: Make, unique: str, field: str
) -> None:
    await make(scope.run, sample(scope.run, unique, run_spec(resourceSnapshotIndex="0")))
    text = await refusal(change(hub, scope.run, unique, {"spec": {field: "1"}}))
    assert f"{field} is immutable" in text


@pytest.mark.parametrize(("old", "new"), [(None, "1"), ("1", None), ("", "1"), ("1", "")])
async def test_an_index_can_be_neither_added_nor_removed(
    hub: Hub, scope: Scope, make: Make, unique: str, old: str | None, new: str | None
) -> None:
    spec = run_spec() if old is None else run_spec(resourceSnapshotIndex=old)
    await make(scope.run, sample(scope.run, unique, spec))
    changed = {"spec": {"resourceSnapshotIndex": new}}
    text = await refusal(change(hub, scope.run, unique, changed))
    assert text.count("resourceSnapshotIndex is immutable") == 1


@pytest.mark.parametrize(("old", "new"), [(None, ""), ("", None)])
async def test_an_empty_index_counts_as_no_index(
    hub: Hub, scope: Scope, make: Make, unique: str, old: str | None, new: str | None
) -> None:
    spec = run_spec() if old is None else run_spec(resourceSnapshotIndex=old)
    await make(scope.run, sample(scope.run, unique, spec))
    await change(hub, scope.run, unique, {"spec": {"resourceSnapshotIndex": new}})


@pytest.mark.parametrize("field", ["placementName", "stagedRolloutStrategyName"])
async def test_placement_and_strategy_must_be_named(hub: Hub, scope: Scope, field: str) -> None:
    spec = run_spec()
    del spec[field]
    text = await refusal(dry_create(hub, scope.run, spec))
    assert f"spec.{field}: Required value" in text


async def test_a_placement_name_has_at_most_255_characters(hub: Hub, scope: Scope) -> None:
    await dry_create(hub, scope.run, run_spec(placementName="p" * 255))
    text = await refusal(dry_create(hub, scope.run, run_spec(placementName="p" * 256)))
    assert "spec.placementName: Too long: may not be more than 255" in text


async def test_a_run_name_has_at_most_63_characters(hub: Hub, scope: Scope) -> None:
    await dry_create(hub, scope.run, run_spec(), name="r" * 63)
    text = await refusal(dry_create(hub, scope.run, run_spec(), name="r" * 64))
    assert "metadata.name max length is 63" in text


async def test_two_writers_each_own_their_conditions(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.run, sample(scope.run, unique, run_spec()))
    for writer, kind_of in (("one", "Initialized"), ("two", "Progressing")):
        body = sample(scope.run, unique, {})
        del body["spec"]
        body["status"] = {"conditions": [condition(kind_of)]}
        await hub.apply(scope.run, body, subresource="status", manager=writer)
    stored = await hub.get(scope.run, unique, namespace=place(scope.run))
    assert [each["type"] for each in stored["status"]["conditions"]] == [
        "Initialized",
        "Progressing",
    ]


@pytest.mark.parametrize(
    ("flaw", "text"),
    [
        ({"lastTransitionTime": None}, "lastTransitionTime: Required value"),
        ({"reason": ""}, "should be at least 1 chars long"),
        ({"reason": "two words"}, "reason in body should match"),
        ({"status": "Maybe"}, 'supported values: "True", "False", "Unknown"'),
        ({"observedGeneration": -1}, "should be greater than or equal to 0"),
        ({"lastTransitionTime": "yesterday"}, "must be of type date-time"),
    ],
    ids=str,
)
async def test_a_condition_must_be_complete(
    hub: Hub, scope: Scope, make: Make, unique: str, flaw: dict[str, Any], text: str
) -> None:
    await make(scope.run, sample(scope.run, unique, run_spec()))
    flawed = {"conditions": [condition("Initialized") | flaw]}
    assert text in await refusal(report(hub, scope.run, unique, flawed))


async def test_a_stage_needs_its_clusters_even_if_there_are_none(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.run, sample(scope.run, unique, run_spec()))
    stages: list[dict[str, Any]] = [{"stageName": "canary"}]
    text = await refusal(report(hub, scope.run, unique, {"stagesStatus": stages}))
    assert "status.stagesStatus[0].clusters: Required value" in text
    stages[0]["clusters"] = []
    await report(hub, scope.run, unique, {"stagesStatus": stages})
