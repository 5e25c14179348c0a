"""Facts are immutable and survive workflow history (decision record 0038)."""

import json

import pytest
from pydantic import ValidationError

from api.applying import ApplyStrategy, ApplyType, ServerSideApplyConfig
from api.base import NamespacedName
from planning.overrides.matching import ClusterOverrides
from planning.runs.facts import (
    BindingFact,
    HubFacts,
    PlacementFact,
    SnapshotFacts,
)
from tests.planning.run_samples import APPROVAL, WAIT, facts, stage, strategy


def test_hub_facts_survive_workflow_history() -> None:
    server_side = ApplyStrategy(
        type=ApplyType.SERVER_SIDE_APPLY,
        server_side_apply_config=ServerSideApplyConfig(force=True),
    )
    known = facts(
        placement=PlacementFact(strategy_type="External", apply_strategy=server_side),
        strategy=strategy(
            stage(max_concurrency="50%", before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT]),
            stage("none", label_selector=None),
        ),
    )
    assert HubFacts.model_validate_json(known.model_dump_json()) == known


def test_snapshot_facts_survive_workflow_history() -> None:
    overrides = ClusterOverrides(
        cluster="a",
        cluster_resource=["one"],
        resource=[NamespacedName(name="two", namespace="team")],
    )
    known = SnapshotFacts(index="1", name="web-1-snapshot", overrides=[overrides])
    assert SnapshotFacts.model_validate_json(known.model_dump_json()) == known


def test_an_empty_hub_gives_facts_too() -> None:
    empty = facts(placement=None, policies=[], bindings=[], strategy=None, clusters=[])
    assert HubFacts.model_validate_json(empty.model_dump_json()) == empty


def test_fields_added_by_a_newer_version_are_ignored() -> None:
    wire = {"name": "n", "cluster": "c", "policy_snapshot": "p", "state": "Bound", "mood": "new"}
    found = BindingFact.model_validate_json(json.dumps(wire))
    assert not hasattr(found, "mood")


def test_facts_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        facts().generation = 2  # type: ignore[misc]
