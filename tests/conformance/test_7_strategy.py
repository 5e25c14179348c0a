"""Sections 7.4 to 7.6: strategy, stages, order and deletion stage at initialization."""

import pytest

from hub import Json
from tests.conformance.objects import (
    APPROVAL,
    DELETION_STAGE,
    cluster_names,
    stage,
    stage_of,
    timed_wait,
)
from tests.conformance.runs import Run
from tests.conformance.texts import E_USER, E_VALID, unplaced
from tests.conformance.vocabulary import Says
from tests.conformance.world import World


async def planned(world: World, *stages: Json) -> Json:
    """Create a run with these stages, and return it once it is initialized."""
    await world.strategy(*stages)
    run = await Run.create(world, state="Initialize")
    return await run.comes_to(Says.RUN_INITIALIZED)


async def refused(world: World, error: str, *stages: Json) -> Json:
    """Create a run that is refused because of these stages, and return its status."""
    await world.strategy(*stages)
    run = await Run.create(world)
    status: Json = (await run.is_refused(f"{E_VALID}: {E_USER}: {error}"))["status"]
    return status


# -- 7.4 strategy --------------------------------------------------------------------------


async def test_7_4_a_missing_strategy_is_a_user_error(world: World) -> None:
    await world.place("a")
    run = await Run.create(world, strategy="nowhere")
    text = f"referenced updateStrategy not found: `{world.key('nowhere')}`"
    status = (await run.is_refused(f"{E_VALID}: {E_USER}: {text}"))["status"]
    assert status["policyObservedClusterCount"] == 1, "earlier findings are kept"
    assert "stagedUpdateStrategySnapshot" not in status


async def test_7_4_the_strategy_is_copied_with_its_defaults(world: World) -> None:
    await world.place("a")
    seen = await planned(world, stage(beforeStageTasks=[APPROVAL], afterStageTasks=[APPROVAL]))
    copied = seen["status"]["stagedUpdateStrategySnapshot"]["stages"]
    assert copied == [
        {
            "name": "one",
            "labelSelector": {"matchLabels": {"stage": "one"}},
            "maxConcurrency": 1,
            "beforeStageTasks": [{"type": "Approval"}],
            "afterStageTasks": [{"type": "Approval"}],
        }
    ]


@pytest.mark.parametrize(
    ("typed", "copied"),
    [
        ("1m", "1m0s"),
        ("90s", "1m30s"),
        ("1h30m", "1h30m0s"),
        ("24h", "24h0m0s"),
        ("1.5h", "1h30m0s"),
        # The status would not accept Go's 500ms; KubeFleet never initializes such a run.
        ("0.5s", "0.5s"),
    ],
)
async def test_2_2_a_wait_is_copied_in_gos_format(world: World, typed: str, copied: str) -> None:
    await world.place("a")
    seen = await planned(world, stage(afterStageTasks=[timed_wait(typed)]))
    task = seen["status"]["stagedUpdateStrategySnapshot"]["stages"][0]["afterStageTasks"][0]
    assert task["waitTime"] == copied
    strategy = await world.read(world.scope.strategy, world.name)
    assert strategy["spec"]["stages"][0]["afterStageTasks"][0]["waitTime"] == typed


# -- 7.5 stages ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "inner"),
    [
        (
            [APPROVAL, APPROVAL],
            "afterStageTasks cannot have two tasks of the same type: Approval",
        ),
        (
            [timed_wait("1s"), timed_wait("2s")],
            "afterStageTasks cannot have two tasks of the same type: TimedWait",
        ),
        ([timed_wait("0s")], "task 0 of type TimedWait has wait duration <= 0"),
        ([APPROVAL, timed_wait("0h")], "task 1 of type TimedWait has wait duration <= 0"),
    ],
    ids=["two approvals", "two waits", "no time", "no time, second"],
)
async def test_7_5b_impossible_tasks_after_a_stage_are_refused(
    world: World, tasks: list[Json], inner: str
) -> None:
    await world.place("a")
    reference = world.key(world.name)
    text = (
        f"the after stage tasks are invalid, updateStrategy: `{reference}`, stage: one, "
        f"err: {inner}"
    )
    status = await refused(world, text, stage(afterStageTasks=tasks))
    assert "stagedUpdateStrategySnapshot" in status
    assert "stagesStatus" not in status


async def test_7_5c_a_selector_with_an_unknown_operator_is_refused(world: World) -> None:
    await world.place("a")
    wrong = {"matchExpressions": [{"key": "stage", "operator": "Like", "values": ["one"]}]}
    reference = world.key(world.name)
    text = (
        f"the stage label selector is invalid, updateStrategy: `{reference}`, stage: one, "
        'err: "Like" is not a valid label selector operator'
    )
    await refused(world, text, stage(labelSelector=wrong))


async def test_7_5d_a_cluster_in_two_stages_is_refused(world: World) -> None:
    await world.place("a")
    text = f"cluster `{world.cluster('a')}` appears in more than one stages"
    await refused(world, text, stage("one"), stage("all", labelSelector={}))


@pytest.mark.parametrize(
    ("labels", "value", "why"),
    [
        ({}, "", 'parsing "": invalid syntax'),
        ({"order": "first"}, "first", 'parsing "first": invalid syntax'),
        ({"order": "1.0"}, "1.0", 'parsing "1.0": invalid syntax'),
        ({"order": "1_0"}, "1_0", 'parsing "1_0": invalid syntax'),
        (
            {"order": "9223372036854775808"},
            "9223372036854775808",
            'parsing "9223372036854775808": value out of range',
        ),
    ],
    ids=["absent", "a word", "a fraction", "an underscore", "too large"],
)
async def test_7_5d_a_sorting_label_that_is_not_an_integer_is_refused(
    world: World, labels: dict[str, str], value: str, why: str
) -> None:
    await world.place({"a": {"stage": "one", **labels}})
    text = (
        f"the sorting label `order:{value}` on cluster `{world.cluster('a')}` is not valid: "
        f"strconv.Atoi: {why}"
    )
    await refused(world, text, stage(sortingLabelKey="order"))


async def test_7_5d_clusters_that_are_not_scheduled_are_not_updated(world: World) -> None:
    await world.place("a")
    await world.member("b", {"stage": "one"})
    assert cluster_names(await planned(world, stage())) == world.clusters("a")


async def test_7_5e_clusters_are_ordered_by_name(world: World) -> None:
    await world.place("cab")
    assert cluster_names(await planned(world, stage())) == world.clusters("abc")


async def test_7_5e_clusters_are_ordered_by_their_numeric_label_then_by_name(
    world: World,
) -> None:
    order = {"a": "10", "b": "9", "c": "0", "d": "9", "e": "007"}
    await world.place({short: {"stage": "one", "order": value} for short, value in order.items()})
    seen = await planned(world, stage(sortingLabelKey="order"))
    assert cluster_names(seen) == world.clusters("cebda")


async def test_7_5f_a_stage_may_be_empty(world: World) -> None:
    await world.place("a")
    seen = await planned(world, stage("none"), stage("one"))
    assert cluster_names(seen, 0) == []
    assert cluster_names(seen, 1) == world.clusters("a")


async def test_7_5f_a_stage_without_a_selector_is_empty_but_an_empty_selector_matches_all(
    world: World,
) -> None:
    await world.place("ab")
    none = {"name": "none"}
    seen = await planned(world, none, {"name": "all", "labelSelector": {}})
    assert cluster_names(seen, 0) == []
    assert cluster_names(seen, 1) == world.clusters("ab")


async def test_7_5g_tasks_are_listed_without_conditions(world: World) -> None:
    await world.place("a")
    tasks = [timed_wait("1m"), APPROVAL]
    seen = await planned(world, stage(beforeStageTasks=[APPROVAL], afterStageTasks=tasks))
    entry, run = stage_of(seen, 0), seen["metadata"]["name"]
    assert entry["beforeStageTaskStatus"] == [
        {"type": "Approval", "approvalRequestName": f"{run}-before-one"}
    ]
    assert entry["afterStageTaskStatus"] == [
        {"type": "TimedWait"},
        {"type": "Approval", "approvalRequestName": f"{run}-after-one"},
    ]
    assert "conditions" not in entry
    assert entry["clusters"] == [{"clusterName": world.cluster("a")}]


async def test_7_5_a_cluster_in_no_stage_is_named(world: World) -> None:
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}})
    await world.strategy(stage())
    run = await Run.create(world)
    status = (await run.is_refused(unplaced(world.cluster("b"))))["status"]
    assert [each["stageName"] for each in status["stagesStatus"]] == ["one"]
    assert "deletionStageStatus" not in status


async def test_7_5_at_most_ten_clusters_in_no_stage_are_named(world: World) -> None:
    shorts = "abcdefghijkl"
    await world.place({short: {"stage": "other"} for short in shorts})
    await world.strategy(stage())
    run = await Run.create(world)
    await run.is_refused(unplaced(*world.clusters(shorts[:10]), total=12))


async def test_7_5_a_scheduled_cluster_that_is_not_a_member_is_in_no_stage(world: World) -> None:
    await world.place("a")
    await world.binding("b")
    await world.strategy(stage("all", labelSelector={}))
    run = await Run.create(world)
    await run.is_refused(unplaced(world.cluster("b")))


async def test_7_5_a_strategy_without_stages_cannot_update_any_cluster(world: World) -> None:
    await world.place("a")
    await world.strategy()
    run = await Run.create(world)
    await run.is_refused(unplaced(world.cluster("a")))


# -- 7.6 deletion stage --------------------------------------------------------------------


async def test_7_6_the_deletion_stage_lists_clusters_by_name(world: World) -> None:
    await world.place("b")
    await world.binding("1", cluster="c", state="Unscheduled")
    await world.binding("2", cluster="a", state="Unscheduled")
    deletion = stage_of(await planned(world, stage()), -1)
    assert deletion == {
        "stageName": DELETION_STAGE,
        "clusters": [{"clusterName": name} for name in world.clusters("ac")],
    }


async def test_7_6_the_deletion_stage_is_empty_if_there_is_nothing_to_delete(world: World) -> None:
    await world.place("a")
    deletion = stage_of(await planned(world, stage()), -1)
    assert deletion == {"stageName": DELETION_STAGE, "clusters": []}
