"""Only the changed parts of a run are parsed again."""

import copy

import pytest

from api.runs import UpdateRun
from bridge.runs import ParsedRun
from hub import Json
from tests.support.conditions import condition


@pytest.fixture
def body() -> Json:
    stages = [
        {
            "stageName": stage,
            "clusters": [{"clusterName": f"{stage}-{number}"} for number in range(3)],
            "conditions": [],
        }
        for stage in ("staging", "prod")
    ]
    spec = {"placementName": "web", "stagedRolloutStrategyName": "slow", "state": "Run"}
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "web-1", "uid": "1"},
        "spec": spec,
        "status": {"stagesStatus": stages, "conditions": []},
    }


def test_parsing_after_a_change_gives_the_same_as_parsing_from_scratch(body: Json) -> None:
    changed = copy.deepcopy(body)
    cluster = changed["status"]["stagesStatus"][1]["clusters"][1]
    cluster["conditions"] = [condition("Started")]
    changed["status"]["stagesStatus"][0]["conditions"] = [condition("Progressing")]
    before, given = ParsedRun(body), copy.deepcopy(changed)
    assert ParsedRun(changed, before=before).run == UpdateRun.from_wire(given)
    assert changed == given, "the object belongs to the cache"
    assert before.run == UpdateRun.from_wire(body)


def test_clusters_that_have_not_changed_are_shared(body: Json) -> None:
    before, changed = ParsedRun(body), copy.deepcopy(body)
    changed["status"]["stagesStatus"][1]["clusters"][1]["conditions"] = [condition("Started")]
    old = before.run.status.stages_status
    new = ParsedRun(changed, before=before).run.status.stages_status
    same = [
        [each is was for each, was in zip(now.clusters, then.clusters, strict=True)]
        for now, then in zip(new, old, strict=True)
    ]
    assert same == [[True, True, True], [True, False, True]]


@pytest.mark.parametrize("stages", [0, 1, 3])
@pytest.mark.parametrize("clusters", [0, 2, 4])
def test_a_plan_of_another_size_is_parsed_correctly(body: Json, stages: int, clusters: int) -> None:
    other = copy.deepcopy(body)
    first = other["status"]["stagesStatus"][0]
    first["clusters"] = [{"clusterName": f"staging-{number}"} for number in range(clusters)]
    other["status"]["stagesStatus"] = [first] * stages
    assert ParsedRun(other, before=ParsedRun(body)).run == UpdateRun.from_wire(other)
    assert ParsedRun(body, before=ParsedRun(other)).run == UpdateRun.from_wire(body)


def test_a_run_without_a_status_is_parsed(body: Json) -> None:
    bare = {name: value for name, value in body.items() if name != "status"}
    assert ParsedRun(bare, before=ParsedRun(body)).run == UpdateRun.from_wire(bare)
    assert ParsedRun(body, before=ParsedRun(bare)).run == UpdateRun.from_wire(body)
