"""Reasons and messages are worded as in the contract, update-runs 5 and placement 4 to 8."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from api import reasons
from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE
from api.reasons import AGGREGATES, PENDING, ConditionType, stuck

RECORDED = list(yaml.safe_load_all((Path(__file__).parent / "data" / "recorded.yaml").read_text()))
OF_PEOPLE = {"lgtm"}
OF_THE_SIMULATED_MEMBER = {"ManifestApplied", "NotYetAvailable", "NotAllManifestsAvailable", ""}


def conditions(value: object) -> list[dict[str, Any]]:
    """Return every condition in recorded objects."""
    if isinstance(value, list):
        return [each for item in value for each in conditions(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if "lastTransitionTime" in value else []
    return own + [each for item in value.values() for each in conditions(item)]


def words(suffix: str) -> set[str]:
    """Return all values of the enumerations whose names end with `suffix`."""
    return {
        str(member)
        for name in reasons.__all__
        if name.endswith(suffix)
        for member in getattr(reasons, name)
    }


def test_recorded_reasons_are_known() -> None:
    recorded = {each["reason"] for each in conditions(RECORDED)}
    assert recorded - OF_PEOPLE - OF_THE_SIMULATED_MEMBER <= words("Reason")


def test_recorded_messages_are_known() -> None:
    fixed = words("Message") | {each.message for each in PENDING.values()}
    filled = [
        *[
            reasons.STARTED_BY_RUN.fill(index="", run=run)
            for run in ("example-run", "app-run", "stuck-run")
        ],
        reasons.found_all(3),
        reasons.waiting_before("canary"),
        stuck(["member2"], stage="staging"),
        reasons.WORK_NOT_AVAILABLE.fill(work="my-app.web-app-placement-work"),
        *[reasons.picked(f"member{n}", affinity_score=0, spread_score=0) for n in range(1, 4)],
    ]
    recorded = {each["message"] for each in conditions(RECORDED)}
    assert recorded - OF_PEOPLE - OF_THE_SIMULATED_MEMBER <= fixed | set(filled)


@pytest.mark.parametrize(
    ("clusters", "named"),
    [
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c..."),
    ],
)
def test_at_most_three_stuck_clusters_are_named(clusters: list[str], named: str) -> None:
    assert stuck(clusters, stage="prod") == (
        f"The updateRun is stuck waiting for {named} cluster(s) in stage prod to finish updating,"
        " please check placement status for potential errors"
    )


@pytest.mark.parametrize("scope", [CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=lambda each: each.name)
def test_conditions_of_a_placement_start_with_its_kind(scope: Any) -> None:
    name = reasons.placement_condition(scope.placement, ConditionType.ROLLOUT_STARTED)
    assert name == f"{scope.placement.kind}RolloutStarted"
    assert f"check the {scope.run.kind} resources" in reasons.no_version_yet(scope.run)


def test_counts_are_filled_in() -> None:
    done = AGGREGATES[ConditionType.WORK_SYNCHRONIZED].done
    assert done.reason == "WorkSynchronized"
    assert done.count(3) == (
        "Work(s) are successfully created or updated in 3 target cluster(s)' namespaces"
    )


def test_reasons_are_accepted_by_the_schema() -> None:
    shape = re.compile(r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    assert all(shape.match(word) for word in words("Reason"))


def test_the_chain_of_conditions_is_the_same_for_one_cluster_and_for_all() -> None:
    assert list(PENDING) == list(AGGREGATES)
