"""Objects survive being read and written: fields known and unknown, times, empty lists."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from temporalio.contrib.pydantic import pydantic_data_converter

from api.applying import ApplyStrategy
from api.base import ApiModel, Condition, KubernetesObject, ObjectMeta, format_time
from api.bindings import BindingState, ClusterResourceBinding
from api.crds import MODELS
from api.envelopes import ResourceEnvelope
from api.overrides import OverrideRule
from api.policies import SchedulingPolicySnapshotStatus
from api.runs import (
    ClusterStagedUpdateRun,
    ClusterStatus,
    RunState,
    StageStatus,
    UpdateRunSpec,
    UpdateRunStatus,
)
from api.strategies import Stage, StageTask
from api.works import Work, WorkStatus

NOT_MODELS = frozenset({"labels", "annotations", "matchLabels", "selectedResources", "manifests"})
"""Maps and whole objects, whose content is not described by the models."""
MODEL_OF = {model.resource.kind.kind: model for model in MODELS}
RECORDED: list[dict[str, Any]] = list(
    yaml.safe_load_all((Path(__file__).parent / "data" / "recorded.yaml").read_text())
)


def read(body: dict[str, Any]) -> KubernetesObject:
    return MODEL_OF[body["kind"]].from_wire(body)


def parts(value: object) -> list[dict[str, Any]]:
    """Return every mapping in an object that corresponds to a model."""
    if isinstance(value, list):
        return [part for item in value for part in parts(item)]
    if not isinstance(value, dict):
        return []
    inner = [item for key, item in value.items() if key not in NOT_MODELS]
    return [value] + [part for item in inner for part in parts(item)]


a_moment = st.datetimes(
    min_value=datetime(1970, 1, 2),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9000, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)
anything = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@pytest.mark.parametrize("body", RECORDED, ids=lambda body: body["kind"])
def test_a_recorded_object_is_written_as_it_was_read(body: dict[str, Any]) -> None:
    assert read(body).to_wire() == body


@given(data=st.data())
def test_unknown_fields_are_kept_at_every_level(data: st.DataObject) -> None:
    body = json.loads(json.dumps(data.draw(st.sampled_from(RECORDED))))
    for part in data.draw(st.lists(st.sampled_from(parts(body)), min_size=1, max_size=3)):
        part["fieldOfTomorrow"] = data.draw(anything)
    assert read(body).to_wire() == body


@pytest.mark.parametrize("body", RECORDED, ids=lambda body: body["kind"])
def test_an_object_survives_a_workflows_history(body: dict[str, Any]) -> None:
    model = read(body)
    converter = pydantic_data_converter.payload_converter
    (back,) = converter.from_payloads(converter.to_payloads([model]), [type(model)])
    assert back == model
    assert back.to_wire() == body


@pytest.mark.parametrize(
    ("model", "payload"),
    [
        (UpdateRunStatus, {}),
        (UpdateRunSpec, {"placementName": "p", "stagedRolloutStrategyName": "s"}),
        (UpdateRunSpec, {"placement_name": "p", "staged_rollout_strategy_name": "s"}),
        (StageStatus, {"stageName": "canary", "clusters": [{"clusterName": "member1"}]}),
        (ClusterStatus, {"clusterName": "member1", "fieldOfYesterday": 1}),
        (Stage, {"name": "canary"}),
        (ApplyStrategy, {}),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else str(each),
)
def test_a_payload_of_an_older_version_is_still_read(
    model: type[ApiModel], payload: dict[str, Any]
) -> None:
    assert isinstance(model.model_validate_json(json.dumps(payload)), model)


def test_unset_fields_are_not_written() -> None:
    spec = UpdateRunSpec(placement_name="p", staged_rollout_strategy_name="s")
    run = ClusterStagedUpdateRun(metadata=ObjectMeta(name="r"), spec=spec)
    assert run.to_wire() == {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "r"},
        "spec": {"placementName": "p", "stagedRolloutStrategyName": "s", "state": "Initialize"},
    }


def test_fields_that_were_set_are_written_even_when_empty() -> None:
    spec = UpdateRunSpec.from_wire(
        {"placementName": "p", "stagedRolloutStrategyName": "s", "resourceSnapshotIndex": ""}
    )
    assert spec.to_wire()["resourceSnapshotIndex"] == ""
    assert StageStatus(stage_name="s", clusters=[]).to_wire() == {"stageName": "s", "clusters": []}


def test_values_added_later_are_written() -> None:
    status = UpdateRunStatus()
    status.stages_status.append(StageStatus(stage_name="canary", clusters=[]))
    status.policy_observed_cluster_count = 3
    assert status.to_wire() == {
        "stagesStatus": [{"stageName": "canary", "clusters": []}],
        "policyObservedClusterCount": 3,
    }


def test_two_statuses_do_not_share_their_lists() -> None:
    first, second = UpdateRunStatus(), UpdateRunStatus()
    first.stages_status.append(StageStatus(stage_name="canary", clusters=[]))
    assert second.stages_status == []


def test_a_count_of_zero_clusters_is_left_out() -> None:
    assert UpdateRunStatus(policy_observed_cluster_count=0).to_wire() == {}
    assert UpdateRunStatus(policy_observed_cluster_count=-1).to_wire() == {
        "policyObservedClusterCount": -1
    }


def test_required_fields_are_written_even_when_unset() -> None:
    assert WorkStatus().to_wire() == {"conditions": []}
    assert SchedulingPolicySnapshotStatus().to_wire() == {"observedCRPGeneration": 0}


def test_a_manifest_keeps_its_nulls() -> None:
    manifest = {"apiVersion": "v1", "kind": "X", "metadata": {"creationTimestamp": None}}
    body = {"spec": {"workload": {"manifests": [manifest]}}}
    assert Work.from_wire(body).to_wire()["spec"] == body["spec"]


def test_an_enveloped_object_keeps_its_nulls() -> None:
    enveloped = {"kind": "X", "metadata": {"creationTimestamp": None}}
    body = {"apiVersion": "v1", "kind": "ResourceEnvelope", "data": {"x": enveloped}}
    assert ResourceEnvelope.from_wire(body).to_wire()["data"] == {"x": enveloped}


@pytest.mark.parametrize("value", [False, 0, "", [], {}, {"key": None}], ids=repr)
def test_an_override_may_set_an_empty_value(value: object) -> None:
    rule = {
        "clusterSelector": {"clusterSelectorTerms": []},
        "overrideType": "JSONPatch",
        "jsonPatchOverrides": [{"op": "add", "path": "/data", "value": value}],
    }
    assert OverrideRule.from_wire(rule).to_wire() == rule


def test_a_rule_without_a_selector_differs_from_one_for_all_clusters() -> None:
    assert OverrideRule.from_wire({"overrideType": "Delete"}).to_wire() == {
        "overrideType": "Delete"
    }


@pytest.mark.parametrize("concurrency", [1, 250, "1", "50%"])
def test_a_concurrency_stays_a_number_or_a_text(concurrency: int | str) -> None:
    stage = Stage(name="canary", max_concurrency=concurrency)
    assert stage.to_wire()["maxConcurrency"] == concurrency
    assert Stage.model_validate_json(stage.model_dump_json()) == stage


@given(moment=a_moment)
def test_a_time_is_written_in_whole_seconds_utc(moment: datetime) -> None:
    written = format_time(moment)
    assert written.endswith("Z")
    assert datetime.fromisoformat(written) == moment.replace(microsecond=0)
    status = StageStatus(stage_name="s", clusters=[], start_time=moment)
    assert status.to_wire()["startTime"] == written
    assert StageStatus.from_wire(status.to_wire()) == status


def test_a_time_without_a_zone_is_utc() -> None:
    naive = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - what the test is about
    assert format_time(naive) == "2026-01-02T03:04:05Z"


def test_a_state_that_the_api_server_does_not_check_may_be_unknown() -> None:
    body = next(each for each in RECORDED if each["kind"] == "ClusterResourceBinding")
    binding = ClusterResourceBinding.from_wire(body)
    assert binding.spec.state is BindingState.BOUND
    body = body | {"spec": body["spec"] | {"state": "Suspended"}}
    assert ClusterResourceBinding.from_wire(body).spec.state == "Suspended"


def test_a_state_that_the_api_server_checks_must_be_known() -> None:
    with pytest.raises(ValidationError, match="state"):
        UpdateRunSpec(placement_name="p", staged_rollout_strategy_name="s", state="Pause")
    assert RunState("Stop") is RunState.STOP


def test_a_strategy_cannot_be_changed_in_memory() -> None:
    task = StageTask(type="Approval")
    with pytest.raises(ValidationError, match="frozen"):
        task.wait_time = "1m"  # type: ignore[misc]


def test_conditions_compare_by_content() -> None:
    body = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
        "reason": "AllWorkAreAvailable",
        "message": "",
    }
    assert Condition.from_wire(body) == Condition.from_wire(body | {"observedGeneration": 0})
