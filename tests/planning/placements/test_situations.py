"""Bindings and placements report the same as KubeFleet's in each situation (placement 6, 7, 12)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.base import format_time
from api.bindings import Binding
from api.policies import ClusterDecision
from api.works import WorkStatus
from planning.placements import binding_status
from planning.placements.binding_steps import IN_PROGRESS_FOR, DistributionOutcome, WorkReport
from planning.placements.cluster_status import Frame, chain_of, picked
from tests.planning.placements.statuses import placement

Json = dict[str, Any]
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
LONG_AGO = format_time(NOW - 2 * IN_PROGRESS_FOR - timedelta(hours=1))
MOVING = ("lastTransitionTime", "observationTime")
"""The Work was recorded a moment after the binding."""
DATA = Path(__file__).parent / "data" / "situations.yaml"
SITUATIONS = {each["situation"]: each for each in yaml.safe_load_all(DATA.read_text())}

of_each = pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
of_each_with_work = pytest.mark.parametrize(
    "situation",
    [each for each in SITUATIONS.values() if each["work_status"]],
    ids=[name for name, each in SITUATIONS.items() if each["work_status"]],
)


def timed(value: Any) -> Any:
    """Give each condition a time: they were recorded without."""
    if isinstance(value, list):
        return [timed(each) for each in value]
    if not isinstance(value, dict):
        return value
    own = {"lastTransitionTime": LONG_AGO} if "reason" in value and "type" in value else {}
    return {key: timed(each) for key, each in value.items()} | own


def untimed(value: Any) -> Any:
    if isinstance(value, list):
        return [untimed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: untimed(each) for key, each in value.items() if key not in MOVING}


def binding(situation: Json, *, apply: str) -> Binding:
    conditions = situation["binding_status"]["conditions"]
    entry = situation["placement"]
    spec = {
        "state": "Bound",
        "resourceSnapshotName": "x-p-0-snapshot",
        "schedulingPolicySnapshotName": "x-p-0",
        "targetCluster": entry["clusterName"],
        "clusterDecision": {"clusterName": "", "selected": True, "reason": ""},
        "applyStrategy": {"type": apply},
        "resourceOverrideSnapshots": entry.get("applicableResourceOverrides", []),
    }
    generation = conditions[0]["observedGeneration"]
    return Binding.from_wire(
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": {"name": "x-p-b", "generation": generation},
            "spec": spec,
            "status": timed(situation["binding_status"]),
        }
    )


def apply_type(situation: Json) -> str:
    return "ReportDiff" if "report-diff" in situation["situation"] else "ClientSideApply"


@of_each_with_work
def test_a_binding_reports_the_same_as_kubefleets(situation: Json) -> None:
    bound = binding(situation, apply=apply_type(situation))
    home = "x-ns." if "namespaced" in situation["situation"] else ""
    work = WorkReport(f"{home}x-p-work", 1, WorkStatus.from_wire(timed(situation["work_status"])))

    said = binding_status.report(bound, DistributionOutcome(works=[work]), now=NOW).to_wire()

    wanted = dict(situation["binding_status"])
    wanted["conditions"] = wanted["conditions"][1:]  # RolloutStarted is the rollout's.
    assert untimed(said) == untimed(wanted)


@of_each
def test_a_placement_reports_the_same_for_the_cluster_as_kubefleets(situation: Json) -> None:
    wanted = situation["placement"]
    apply = apply_type(situation)
    of = placement(apply=apply)
    frame = Frame(
        chain=chain_of(of),
        generation=wanted["conditions"][0]["observedGeneration"],
        indexes={"x-p-0-snapshot": wanted["observedResourceIndex"]},
        now=NOW,
    )
    decision = ClusterDecision(
        cluster_name=wanted["clusterName"],
        selected=True,
        reason=wanted["conditions"][0]["message"],
    )

    entry = picked(decision, binding(situation, apply=apply), frame, before=None).to_wire()

    assert untimed(entry) == untimed(wanted)
