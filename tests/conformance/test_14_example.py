"""The worked example of section 14, with contract decisions 13 (events) and 16 (versions)."""

from dataclasses import replace
from typing import Any

import pytest

from api.kinds import EVENT
from hub import Json
from tests.conformance.objects import (
    APPLY_DEFAULTS,
    APPROVAL,
    DELETION_STAGE,
    stage,
    timed_wait,
)
from tests.conformance.runs import Run
from tests.conformance.situations import in_flight
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually

pytestmark = pytest.mark.both_scopes


async def test_14_the_status_of_the_example_is_that_of_the_contract(world: World) -> None:
    """After the first stage, the second waits for approval."""
    labels: dict[str, dict[str, str]] = {
        "1": {"stage": "canary", "order": "2"},
        "2": {"stage": "staging"},
        "3": {"stage": "canary", "order": "1"},
    }
    await world.place(labels, versions=2)
    stages = [
        stage("staging", maxConcurrency=1, afterStageTasks=[timed_wait("1s")]),
        stage("canary", sortingLabelKey="order", maxConcurrency="50%", beforeStageTasks=[APPROVAL]),
    ]
    await world.strategy(*stages)
    run = await Run.create(world, index="1")
    await world.update("2", index=1)
    await run.comes_to(Says.RUN_WAITING_BEFORE, stage="canary")
    await world.asked(run.request("before", "canary"))
    seen = await run.until(
        lambda found: (
            found
            and condition_of(
                found["status"]["stagesStatus"][1]["beforeStageTaskStatus"][0],
                "ApprovalRequestCreated",
            )
        )
    )
    assert seen["spec"] == {
        "placementName": world.name,
        "resourceSnapshotIndex": "1",
        "stagedRolloutStrategyName": world.name,
        "state": "Run",
    }
    assert shortened(seen["status"]) == expected(world, run, stages)


def expected(world: World, run: Run, stages: list[Json]) -> Json:
    """The status of the example, with conditions in the format of `shortened`."""
    waiting = "The updateRun is waiting for before-stage tasks in stage canary to complete"
    return {
        "appliedStrategy": APPLY_DEFAULTS,
        "policySnapshotIndexUsed": "0",
        "policyObservedClusterCount": 3,
        "resourceSnapshotIndexUsed": "1",
        "stagedUpdateStrategySnapshot": {"stages": stages},
        "stagesStatus": [
            {
                "stageName": "staging",
                "startTime": "…",
                "endTime": "…",
                "clusters": [
                    {
                        "clusterName": world.cluster("2"),
                        "conditions": [
                            "Started True ClusterUpdatingStarted",
                            "Succeeded True ClusterUpdatingSucceeded",
                        ],
                    }
                ],
                "afterStageTaskStatus": [
                    {
                        "type": "TimedWait",
                        "conditions": ["WaitTimeElapsed True AfterStageTaskWaitTimeElapsed"],
                    }
                ],
                "conditions": [
                    "Progressing False StageUpdatingSucceeded",
                    "Succeeded True StageUpdatingSucceeded",
                ],
            },
            {
                "stageName": "canary",
                "clusters": [{"clusterName": world.cluster(short)} for short in "31"],
                "beforeStageTaskStatus": [
                    {
                        "type": "Approval",
                        "approvalRequestName": run.request("before", "canary"),
                        "conditions": [
                            "ApprovalRequestCreated True StageTaskApprovalRequestCreated"
                        ],
                    }
                ],
                "conditions": ["Progressing False StageUpdatingWaiting"],
            },
        ],
        "deletionStageStatus": {"stageName": DELETION_STAGE, "clusters": []},
        "conditions": [
            "Initialized True UpdateRunInitializedSuccessfully",
            f"Progressing False UpdateRunWaiting {waiting}",
        ],
    }


def shortened(status: Json) -> Json:
    """The status as the contract prints it: conditions abbreviated, times omitted."""
    shown: Json = _shorten(status)
    shown["conditions"][-1] += f" {status['conditions'][-1]['message']}"
    return shown


def _shorten(part: Any) -> Any:
    if isinstance(part, list):
        return [_shorten(each) for each in part]
    if not isinstance(part, dict):
        return part
    if "lastTransitionTime" in part:
        return f"{part['type']} {part['status']} {part['reason']}"
    times = ("startTime", "endTime")
    return {key: "…" if key in times else _shorten(value) for key, value in part.items()}


async def test_decision_13_the_events_of_a_run_report_its_progress(world: World) -> None:
    run = await in_flight(world, "ab", beforeStageTasks=[], afterStageTasks=[APPROVAL])
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    await run.set_state("Stop")
    await run.stage_comes_to(Says.STAGE_STOPPING)
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)
    await run.set_state("Run")
    await world.update("b")
    await run.approve("after")
    await run.succeeds()
    told = ["initialized", "start", "stuck", "stopped", "resumed", "waiting", "approved", "succe"]
    fields = f"involvedObject.name={run.name},involvedObject.kind={world.scope.run.kind}"
    await eventually(
        lambda: world.hub.list(EVENT, namespace=world.namespace or "default", fields=fields),
        lambda seen: all(
            any(word in f"{each['reason']} {each['message']}".lower() for each in seen.items)
            for word in told
        ),
        within=30,
    )


async def test_decision_16_a_run_may_be_written_and_read_in_version_v1(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    kind = replace(world.scope.run, version="v1")
    spec = {
        "placementName": world.name,
        "stagedRolloutStrategyName": world.name,
        "resourceSnapshotIndex": "0",
        "state": "Run",
    }
    run = Run(world, f"{world.name}-run")
    await world.create(kind, run.name, {"spec": spec})
    await world.update("a")
    seen = await run.succeeds()
    assert (await world.read(kind, run.name))["status"] == seen["status"]
