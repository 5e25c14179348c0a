"""A status that has become less was changed by somebody else."""

from typing import Any

import pytest

from planning.runs import tampering

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
def test_what_is_less_was_taken_out(after: dict[str, Any] | None) -> None:
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
def test_what_grows_or_changes_is_the_engines(after: dict[str, Any]) -> None:
    assert not tampering.has_lost(STATUS, after)
    assert not tampering.has_lost({}, after)
    assert not tampering.has_lost(None, after)
