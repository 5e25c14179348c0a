"""A status that has lost values was changed by another writer."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api.runs import UpdateRunStatus
from planning import conditions
from planning.runs import tampering

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLUSTER = {"clusterName": "a", "conditions": [{"type": "Started", "status": "True"}]}
STATUS: dict[str, Any] = {
    "stagesStatus": [{"stageName": "one", "clusters": [CLUSTER]}, {"stageName": "two"}],
    "conditions": [{"type": "Initialized", "status": "True"}],
}
STAGE = STATUS["stagesStatus"][0]


@pytest.mark.parametrize(
    "after",
    [
        None,
        {},
        STATUS | {"conditions": []},
        STATUS | {"stagesStatus": [STAGE]},
        STATUS | {"stagesStatus": [STAGE | {"clusters": []}, {"stageName": "two"}]},
        STATUS | {"stagesStatus": [STAGE | {"clusters": [{"clusterName": "a"}]}, {}]},
    ],
)
def test_missing_values_were_removed_by_another_writer(after: dict[str, Any] | None) -> None:
    assert tampering.has_lost(STATUS, after)


@pytest.mark.parametrize(
    "after",
    [
        STATUS,
        STATUS | {"policySnapshotIndexUsed": "0"},
        STATUS | {"conditions": [{"type": "Initialized", "status": "False"}]},
        STATUS | {"conditions": [*STATUS["conditions"], {"type": "Progressing"}]},
        STATUS | {"stagesStatus": [STAGE, {"stageName": "two", "startTime": "now"}]},
    ],
)
def test_added_or_changed_values_may_come_from_the_engine(after: dict[str, Any]) -> None:
    assert not tampering.has_lost(STATUS, after)
    assert not tampering.has_lost({}, after)
    assert not tampering.has_lost(None, after)


@pytest.mark.parametrize(
    ("said", "forged"),
    [
        ({}, False),
        ({"Initialized": "True"}, False),
        ({"Initialized": "False"}, False),
        ({"Initialized": "True", "Progressing": "True"}, False),
        (
            {"Progressing": "False/UpdateRunSucceeded", "Succeeded": "True/UpdateRunSucceeded"},
            False,
        ),
        ({"Progressing": "False/UpdateRunFailed", "Succeeded": "False/UpdateRunFailed"}, False),
        ({"Progressing": "True", "Succeeded": "True/UpdateRunSucceeded"}, True),
        ({"Progressing": "False/UpdateRunWaiting", "Succeeded": "False/UpdateRunFailed"}, True),
        ({"Initialized": "True", "Succeeded": "True/Done"}, True),
        ({"Initialized": "False", "Progressing": "True"}, True),
    ],
)
def test_an_end_that_the_engine_would_not_write_is_forged(
    said: dict[str, str], forged: bool
) -> None:
    status = UpdateRunStatus()
    for kind, value in said.items():
        state, _, reason = value.partition("/")
        made = conditions.make(kind, state, reason, "", generation=1, now=NOW)
        conditions.put(status.conditions, made)
    assert tampering.is_forged(status) is forged
