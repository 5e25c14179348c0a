"""Strategies on a real API server (contract: update-runs 3 and 16; decision 2)."""

from typing import Any

import pytest

from api.kinds import Scope
from hub import Hub
from tests.api.samples import dry_create, refusal, stage

APPROVAL = {"type": "Approval"}


async def create(hub: Hub, scope: Scope, *stages: dict[str, Any]) -> list[dict[str, Any]]:
    stored = await dry_create(hub, scope.strategy, {"stages": list(stages)})
    created: list[dict[str, Any]] = stored["spec"]["stages"]
    return created


async def test_one_cluster_at_a_time_is_the_default(hub: Hub, scope: Scope) -> None:
    assert await create(hub, scope, stage()) == [{"name": "canary", "maxConcurrency": 1}]


async def test_an_empty_list_of_stages_is_accepted(hub: Hub, scope: Scope) -> None:
    assert await create(hub, scope) == []


async def test_stages_are_required(hub: Hub, scope: Scope) -> None:
    text = await refusal(dry_create(hub, scope.strategy, {}))
    assert "spec.stages: Required value" in text


async def test_31_stages_with_the_longest_names_are_accepted(hub: Hub, scope: Scope) -> None:
    stages = [stage(name=f"{number:02}" + "s" * 61) for number in range(31)]
    assert len(await create(hub, scope, *stages)) == 31


async def test_32_stages_are_too_many(hub: Hub, scope: Scope) -> None:
    text = await refusal(create(hub, scope, *[stage(name=f"s{n}") for n in range(32)]))
    assert "spec.stages: Too many: 32: must have at most 31 items" in text


@pytest.mark.parametrize("name", ["a", "0", "canary", "dev-clusters", "s" * 63])
async def test_a_stage_name_is_a_dns_label(hub: Hub, scope: Scope, name: str) -> None:
    assert (await create(hub, scope, stage(name=name)))[0]["name"] == name


@pytest.mark.parametrize("name", ["", "Canary", "a.b", "-a", "a-", "a_b", "kubernetes-fleet.io/x"])
async def test_other_stage_names_are_refused(hub: Hub, scope: Scope, name: str) -> None:
    text = await refusal(create(hub, scope, stage(name=name)))
    assert "spec.stages[0].name in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'" in text


async def test_a_stage_name_has_at_most_63_characters(hub: Hub, scope: Scope) -> None:
    assert "Too long" in await refusal(create(hub, scope, stage(name="s" * 64)))


async def test_two_stages_with_the_same_name_are_refused(hub: Hub, scope: Scope) -> None:
    stages = [stage(name=name) for name in ("dev", "prod", "dev")]
    text = await refusal(create(hub, scope, *stages))
    assert "stage names must be unique" in text


@pytest.mark.parametrize("share", [1, 100, 250, "1%", "50%", "99%", "100%"])
async def test_concurrency_is_a_number_or_a_percentage(
    hub: Hub, scope: Scope, share: int | str
) -> None:
    assert (await create(hub, scope, stage(maxConcurrency=share)))[0]["maxConcurrency"] == share


@pytest.mark.parametrize("share", ["0", "50", "0%", "101%", "05%", "1.5%", "-1%", "%", ""])
async def test_other_percentages_are_refused(hub: Hub, scope: Scope, share: str) -> None:
    text = await refusal(create(hub, scope, stage(maxConcurrency=share)))
    assert "spec.stages[0].maxConcurrency in body should match" in text


@pytest.mark.parametrize("count", [0, -1])
async def test_less_than_one_cluster_is_refused(hub: Hub, scope: Scope, count: int) -> None:
    text = await refusal(create(hub, scope, stage(maxConcurrency=count)))
    assert "maxConcurrency must be at least 1" in text


@pytest.mark.parametrize("wait", ["0s", "30s", "1h30m", "1.5h", "24h", "90s", "0.5m0s"])
async def test_a_wait_is_a_duration(hub: Hub, scope: Scope, wait: str) -> None:
    tasks = [{"type": "TimedWait", "waitTime": wait}]
    assert (await create(hub, scope, stage(afterStageTasks=tasks)))[0]["afterStageTasks"] == tasks


@pytest.mark.parametrize("wait", ["", "1", "1d", "0abc", "01h", "-1s", "1ms", ".5h", "1 h"])
async def test_other_waits_are_refused(hub: Hub, scope: Scope, wait: str) -> None:
    tasks = [{"type": "TimedWait", "waitTime": wait}]
    text = await refusal(create(hub, scope, stage(afterStageTasks=tasks)))
    assert "spec.stages[0].afterStageTasks[0].waitTime in body should match" in text


async def test_a_wait_and_an_approval_may_follow_a_stage(hub: Hub, scope: Scope) -> None:
    tasks = [{"type": "TimedWait", "waitTime": "1m"}, APPROVAL]
    assert (await create(hub, scope, stage(afterStageTasks=tasks)))[0]["afterStageTasks"] == tasks


async def test_an_approval_may_come_before_a_stage(hub: Hub, scope: Scope) -> None:
    created = await create(hub, scope, stage(beforeStageTasks=[APPROVAL]))
    assert created[0]["beforeStageTasks"] == [APPROVAL]


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        (
            {"afterStageTasks": [APPROVAL] * 3},
            "afterStageTasks: Too many: 3: must have at most 2 items",
        ),
        (
            {"beforeStageTasks": [APPROVAL] * 2},
            "beforeStageTasks: Too many: 2: must have at most 1 item",
        ),
        (
            {"afterStageTasks": [{"type": "Approval", "waitTime": "1m"}]},
            "AfterStageTaskType is Approval, waitTime is not allowed",
        ),
        (
            {"beforeStageTasks": [{"type": "Approval", "waitTime": "1m"}]},
            "AfterStageTaskType is Approval, waitTime is not allowed",
        ),
        (
            {"afterStageTasks": [{"type": "TimedWait"}]},
            "AfterStageTaskType is TimedWait, waitTime is required",
        ),
        (
            {"beforeStageTasks": [{"type": "TimedWait", "waitTime": "1m"}]},
            "BeforeStageTaskType cannot be TimedWait",
        ),
        (
            {"afterStageTasks": [{"type": "Prayer"}]},
            'supported values: "TimedWait", "Approval"',
        ),
    ],
)
async def test_invalid_gates_are_refused(
    hub: Hub, scope: Scope, tasks: dict[str, Any], text: str
) -> None:
    assert text in await refusal(create(hub, scope, stage(**tasks)))


async def test_no_selector_and_an_empty_one_stay_different(hub: Hub, scope: Scope) -> None:
    without, empty = await create(
        hub, scope, stage(name="none", labelSelector=None), stage(name="all", labelSelector={})
    )
    assert "labelSelector" not in without
    assert empty["labelSelector"] == {}
