"""Section 9: what has changed so that a run under way cannot go on, and what may change.

The runs wait at a gate, so that nothing but the change itself can make an engine look (decision
8); each has to end within three seconds of the change.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from hub import Json
from tests.conformance.objects import (
    APPROVAL,
    LATEST,
    NUMBER_OF_CLUSTERS,
    POLICY_INDEX,
    cluster_names,
    find_condition,
    stage,
    stage_of,
)
from tests.conformance.runs import Run
from tests.conformance.texts import E_ABORT, E_UNEXP, E_USER, E_VALID, unplaced
from tests.conformance.vocabulary import Says
from tests.conformance.world import World

PROMISED = 3.0
"""Seconds within which a violation ends a run (decision 8), on a machine that keeps up."""
BETWEEN_TWO_STEPS = 0.2
"""Seconds for which others may leave things half changed; less than until the second look."""
LOOKED_TWICE = 1.5
"""Seconds after which an engine that took a passing state for a violation has ended the run."""
PICK_N: Json = {"placementType": "PickN", "numberOfClusters": 3}


def promised() -> float:
    """What is promised, times how much more there is to do than the machine can do at once."""
    waiting, _, _ = os.getloadavg()
    return PROMISED * max(1.0, waiting / (os.cpu_count() or 1))


Deed = Callable[[World], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A change after which a run cannot go on."""

    name: str
    change: Deed
    text: Callable[[World], str]
    mend: Deed | None = None
    """Takes the change back, where that is possible."""
    policy: Json | None = None

    def __str__(self) -> str:
        return self.name


async def at_a_gate(world: World, violation: Violation | None = None) -> Run:
    """A run over a and b in stage one, which waits for approval, and c in stage two."""
    clusters = {
        "a": {"stage": "one", "order": "1"},
        "b": {"stage": "one", "order": "2"},
        "c": {"stage": "two", "tier": "second"},
    }
    policy = violation.policy if violation else None
    await world.place(clusters, policy=policy, counted=3)
    second = {"matchLabels": {"tier": "second"}}
    await world.strategy(
        stage("one", sortingLabelKey="order", beforeStageTasks=[APPROVAL], maxConcurrency=2),
        stage("two", labelSelector=second),
    )
    run = await Run.create(world)
    await run.until(
        lambda seen: (
            seen
            and find_condition(
                stage_of(seen, 0)["beforeStageTaskStatus"][0], "ApprovalRequestCreated"
            )
        )
    )
    return run


# -- the changes ---------------------------------------------------------------------------


def policy_name(world: World) -> str:
    return f"{world.name}-0"


async def replace_placement(world: World) -> None:
    await world.delete(world.scope.placement, world.name)
    await world.placement(strategy={"type": "RollingUpdate"})


async def apply_otherwise(world: World) -> None:
    strategy = {"type": "External", "applyStrategy": {"type": "ServerSideApply"}}
    await world.patch(world.scope.placement, world.name, {"spec": {"strategy": strategy}})


async def apply_as_before(world: World) -> None:
    strategy = {"applyStrategy": None}
    await world.patch(world.scope.placement, world.name, {"spec": {"strategy": strategy}})


def label_policy(**labels: str | None) -> Deed:
    names = {"latest": LATEST, "index": POLICY_INDEX}

    async def change(world: World) -> None:
        found = {names[key]: value for key, value in labels.items()}
        await world.relabel(world.scope.policy_snapshot, policy_name(world), found)

    return change


def count_clusters(count: str | None) -> Deed:
    async def change(world: World) -> None:
        patch = {"metadata": {"annotations": {NUMBER_OF_CLUSTERS: count}}}
        await world.patch(world.scope.policy_snapshot, policy_name(world), patch)

    return change


async def change_policy(world: World) -> None:
    await world.outdate_policy(0)
    await world.policy(1)


async def delete_bindings(world: World) -> None:
    for short in "abc":
        await world.delete(world.scope.binding, world.binding_name(short))


async def join_stage_one(world: World) -> None:
    await world.member("d", {"stage": "one", "order": "3"})
    await world.binding("d")


async def move_to_stage_two(world: World) -> None:
    await world.label("b", {"stage": "none", "tier": "second"})


def label(short: str, **labels: str | None) -> Deed:
    return lambda world: world.label(short, labels)


VIOLATIONS = [
    Violation(
        "the placement is deleted",
        lambda world: world.delete(world.scope.placement, world.name),
        lambda _: f"{E_VALID}: {E_USER}: parent placement not found",
        mend=lambda world: world.placement(),
    ),
    Violation(
        "the placement is replaced by one that rolls out by itself",
        replace_placement,
        lambda _: (
            f"{E_VALID}: {E_USER}: parent placement does not have an external rollout strategy, "
            "current strategy: RollingUpdate"
        ),
    ),
    Violation(
        "no policy snapshot is the latest",
        label_policy(latest="false"),
        lambda world: (
            f"{E_VALID}: no latest policy snapshot found for placement {world.key(world.name)}"
        ),
        mend=label_policy(latest="true"),
    ),
    Violation(
        "two policy snapshots are the latest",
        lambda world: world.policy(1),
        lambda world: (
            f"{E_VALID}: {E_UNEXP}: multiple active policy snapshots found for placement "
            f"{world.key(world.name)}: got 2, want 1"
        ),
        mend=lambda world: world.outdate_policy(1),
    ),
    Violation(
        "the policy snapshot loses its index",
        label_policy(index=None),
        lambda world: (
            f"{E_VALID}: {E_UNEXP}: policy snapshot `{world.key(policy_name(world))}` "
            "does not have a policy index label"
        ),
        mend=label_policy(index="0"),
    ),
    Violation(
        "the policy is not scheduled any more",
        lambda world: world.say_scheduled(0, "False"),
        lambda world: f"{E_VALID}: policy snapshot `{policy_name(world)}` not fully scheduled yet",
        mend=lambda world: world.say_scheduled(0, "True"),
    ),
    Violation(
        "the number of clusters is gone",
        count_clusters(None),
        lambda world: (
            f"{E_VALID}, {E_UNEXP}: cannot find annotation {NUMBER_OF_CLUSTERS}: the policy "
            f"snapshot `{world.key(policy_name(world))}` doesn't have valid cluster count "
            "annotation"
        ),
        mend=count_clusters("3"),
        policy=PICK_N,
    ),
    Violation(
        "the policy changes",
        change_policy,
        lambda _: (
            f"{E_ABORT}: the policy snapshot index used in the updateRun is outdated, "
            "latest: 1, recorded: 0"
        ),
    ),
    Violation(
        "the number of clusters changes",
        count_clusters("4"),
        lambda _: (
            f"{E_ABORT}: the cluster count initialized in the updateRun is outdated, "
            "latest: 4, recorded: 3"
        ),
        mend=count_clusters("3"),
        policy=PICK_N,
    ),
    Violation(
        "all bindings are gone",
        delete_bindings,
        lambda world: (
            f"{E_VALID}: no scheduled or to-be-deleted bindings found for the latest policy "
            f"snapshot {world.key(policy_name(world))}"
        ),
    ),
    Violation(
        "a binding is gone",
        lambda world: world.delete(world.scope.binding, world.binding_name("c")),
        lambda _: (
            f"{E_VALID}: {E_UNEXP}: the number of selected bindings 2 is not equal to the "
            "observed cluster count 3"
        ),
        mend=lambda world: world.binding("c"),
        policy=PICK_N,
    ),
    Violation(
        "a cluster loses its stage",
        label("a", stage="other"),
        lambda world: unplaced(world.cluster("a")),
        mend=label("a", stage="one"),
    ),
    Violation(
        "a cluster leaves the fleet",
        lambda world: world.unregister("a"),
        lambda world: unplaced(world.cluster("a")),
        mend=lambda world: world.member("a", {"stage": "one", "order": "1"}),
    ),
    Violation(
        "a cluster comes into a second stage",
        label("b", tier="second"),
        lambda world: (
            f"{E_VALID}: {E_USER}: cluster `{world.cluster('b')}` appears in more than one stages"
        ),
        mend=label("b", tier=None),
    ),
    Violation(
        "a cluster loses its place in the order",
        label("b", order="last"),
        lambda world: (
            f"{E_VALID}: {E_USER}: the sorting label `order:last` on cluster "
            f'`{world.cluster("b")}` is not valid: strconv.Atoi: parsing "last": invalid syntax'
        ),
        mend=label("b", order="2"),
    ),
    Violation(
        "a cluster joins a stage",
        join_stage_one,
        lambda _: (
            f"{E_ABORT}: the number of clusters in index `0` stage has changed, new: 3, existing: 2"
        ),
        mend=lambda world: world.delete(world.scope.binding, world.binding_name("d")),
    ),
    Violation(
        "a cluster is no longer picked",
        lambda world: world.change_binding("c", state="Unscheduled"),
        lambda _: (
            f"{E_ABORT}: the number of clusters in index `1` stage has changed, new: 0, existing: 1"
        ),
        mend=lambda world: world.change_binding("c", state="Scheduled"),
    ),
    Violation(
        "a cluster moves to another stage",
        move_to_stage_two,
        lambda _: (
            f"{E_ABORT}: the number of clusters in index `0` stage has changed, new: 1, existing: 2"
        ),
        mend=label("b", stage="one", tier=None),
    ),
    Violation(
        "the order of clusters changes",
        label("a", order="9"),
        lambda world: (
            f"{E_ABORT}: the `0` cluster in the `0` stage has changed, "
            f"new: {world.cluster('b')}, existing: {world.cluster('a')}"
        ),
        mend=label("a", order="1"),
    ),
    Violation(
        "another cluster is to be deleted",
        lambda world: world.binding("d", state="Unscheduled"),
        lambda world: (
            f"{E_ABORT}: {E_UNEXP}: the cluster `{world.cluster('d')}` to be deleted is not in "
            "the delete stage"
        ),
        mend=lambda world: world.delete(world.scope.binding, world.binding_name("d")),
    ),
]
PASSING = [each for each in VIOLATIONS if each.mend]


# -- violations ----------------------------------------------------------------------------


@pytest.mark.parametrize("violation", VIOLATIONS, ids=str)
async def test_9_a_violation_ends_the_run_also_at_a_gate(
    world: World, violation: Violation
) -> None:
    """Within three seconds; stages and clusters stay as they were (decision 8)."""
    run = await at_a_gate(world, violation)
    before = await run.read()
    await violation.change(world)
    after = await run.fails(violation.text(world), within=promised())
    assert after["status"]["stagesStatus"] == before["status"]["stagesStatus"]
    await world.untouched(*await remaining(world, "abc"))


async def test_9_another_apply_strategy_ends_the_run(world: World) -> None:
    run = await at_a_gate(world)
    await apply_otherwise(world)
    seen = await run.until(
        lambda found: found and find_condition(found, "Succeeded"), within=promised()
    )
    prefix = f"{E_ABORT}: {E_USER}: the applyStrategy in the updateRun is outdated, latest: "
    message = find_condition(seen, "Succeeded")["message"]
    assert message.startswith(prefix)
    assert ", recorded: " in message
    run.shows(seen, Says.RUN_FAILED, error=message)
    run.shows(seen, Says.RUN_ABORTED)


@pytest.mark.parametrize("violation", PASSING, ids=str)
async def test_decision_8_what_is_wrong_only_between_two_steps_does_not_count(
    world: World, violation: Violation
) -> None:
    run = await at_a_gate(world, violation)
    await violation.change(world)
    await asyncio.sleep(BETWEEN_TWO_STEPS)
    assert violation.mend
    await violation.mend(world)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await run.approve("before")
    await world.update("a", "b", "c")
    await run.succeeds()


@pytest.mark.parametrize(
    "violation",
    [
        each
        for each in VIOLATIONS
        if "placement is deleted" in each.name or "loses its" in each.name
    ],
    ids=str,
)
async def test_9_a_violation_ends_a_run_with_clusters_in_flight(
    world: World, violation: Violation
) -> None:
    run = await at_a_gate(world, violation)
    await run.approve("before")
    await world.handed_out("a")
    await world.handed_out("b")
    await run.cluster_comes_to(Says.CLUSTER_STARTED, "b")
    await violation.change(world)
    seen = await run.fails(violation.text(world), within=promised())
    run.shows(seen, Says.STAGE_STARTED, part=stage_of(seen, 0))
    assert not find_condition(run.cluster(seen, "a"), "Succeeded")
    await world.untouched("c")


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda world: world.delete(world.scope.binding, world.binding_name("b")), 1),
        (lambda world: world.change_binding("b", state="Unscheduled"), 1),
    ],
    ids=["is gone", "is not picked any more"],
)
async def test_9_a_cluster_in_flight_whose_binding_goes_ends_the_run_in_its_words(
    world: World, change: Deed, left: int
) -> None:
    """Validation comes before execution: this is no preemption, and no stage has failed."""
    run = await at_a_gate(world)
    await run.approve("before")
    await world.handed_out("b")
    await run.cluster_comes_to(Says.CLUSTER_STARTED, "b")
    await change(world)
    seen = await run.fails(
        f"{E_ABORT}: the number of clusters in index `0` stage has changed, "
        f"new: {left}, existing: 2",
        within=promised(),
    )
    assert not find_condition(stage_of(seen, 0), "Succeeded")
    assert not find_condition(run.cluster(seen, "b"), "Succeeded")


async def test_9_of_a_new_policy_and_changed_bindings_the_policy_is_told(world: World) -> None:
    """The scheduler moves the bindings to a new policy while one of them is in flight."""
    run = await at_a_gate(world)
    await run.approve("before")
    await world.handed_out("a")
    await run.cluster_comes_to(Says.CLUSTER_STARTED, "a")
    await change_policy(world)
    for short in "abc":
        await world.change_binding(short, schedulingPolicySnapshotName=f"{world.name}-1")
    await run.fails(
        f"{E_ABORT}: the policy snapshot index used in the updateRun is outdated, "
        "latest: 1, recorded: 0",
        within=promised(),
    )


async def test_9_a_run_waits_for_a_binding_of_an_old_policy_without_failing(
    world: World,
) -> None:
    run = await at_a_gate(world)
    await world.binding("d", policy=7)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await world.delete(world.scope.binding, world.binding_name("d"))
    await run.approve("before")
    await world.update("a", "b", "c")
    await run.succeeds()


async def test_9_a_binding_of_an_old_policy_that_is_given_up_ends_the_run(world: World) -> None:
    run = await at_a_gate(world)
    await world.binding("d", policy=7)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await world.change_binding("d", state="Unscheduled")
    await run.fails(
        f"{E_ABORT}: {E_UNEXP}: the cluster `{world.cluster('d')}` to be deleted is not in the "
        "delete stage",
        within=promised(),
    )


async def test_9_while_a_binding_is_of_an_old_policy_nothing_new_begins(world: World) -> None:
    run = await at_a_gate(world)
    await world.binding("d", policy=7)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await run.approve("before")
    await asyncio.sleep(LOOKED_TWICE)
    await world.untouched("a", "b")
    await world.delete(world.scope.binding, world.binding_name("d"))
    await world.update("a", "b", "c")
    await run.succeeds()


# -- when it is looked ---------------------------------------------------------------------


async def test_9_while_only_initialized_nothing_is_checked_until_the_start(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    await run.comes_to(Says.RUN_INITIALIZED)
    await world.label("a", {"stage": "other"})
    await run.stays(Says.RUN_INITIALIZED, seconds=LOOKED_TWICE)
    await run.set_state("Run")
    await run.fails(unplaced(world.cluster("a")), within=promised())
    await world.untouched("a")


async def test_decision_8_while_stopped_nothing_is_checked_until_the_resume(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage())
    run = await Run.create(world)
    await world.handed_out("a")
    await run.set_state("Stop")
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)
    await world.label("b", {"stage": "other"})
    await run.stays(Says.RUN_STOPPED, seconds=LOOKED_TWICE)
    await run.set_state("Run")
    await run.fails(unplaced(world.cluster("b")), within=promised())
    await world.untouched("b")


async def test_decision_8_what_is_mended_while_stopped_does_not_count(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage())
    run = await Run.create(world, state="Stop")
    await run.comes_to(Says.RUN_STOPPED)
    await world.label("b", {"stage": "other"})
    await asyncio.sleep(BETWEEN_TWO_STEPS)
    await world.label("b", {"stage": "one"})
    await run.set_state("Run")
    await world.update("a", "b")
    await run.succeeds()


# -- what may change -----------------------------------------------------------------------


async def edit_strategy(world: World) -> None:
    patch = {"spec": {"stages": [stage("other")]}}
    await world.patch(world.scope.strategy, world.name, patch)


async def new_version(world: World) -> None:
    await world.relabel(world.scope.resource_snapshot, world.snapshot_name(0), {LATEST: "false"})
    await world.snapshot(1)


async def join_elsewhere(world: World) -> None:
    await world.member("d", {"stage": "one", "order": "0"})


@pytest.mark.parametrize(
    "change",
    [
        edit_strategy,
        lambda world: world.delete(world.scope.strategy, world.name),
        new_version,
        label("a", purpose="other"),
        label("b", order="5"),
        join_elsewhere,
    ],
    ids=[
        "the strategy is edited",
        "the strategy is deleted",
        "there is a new version",
        "a label that decides nothing",
        "an order that comes to the same",
        "a cluster that is not picked",
    ],
)
async def test_9_what_comes_to_the_same_does_not_end_a_run(world: World, change: Deed) -> None:
    run = await at_a_gate(world)
    await change(world)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await run.approve("before")
    await world.update("a", "b", "c")
    seen = await run.succeeds()
    assert cluster_names(seen, 0) == world.clusters("ab")


@pytest.mark.parametrize("lost", ["stagesStatus", "stagedUpdateStrategySnapshot", "everything"])
async def test_9_a_status_that_somebody_meddled_with_is_written_again(
    world: World, lost: str
) -> None:
    """KubeFleet reads its own status and fails; here it is mirrored from the workflow."""
    run = await at_a_gate(world)
    before = await run.read()
    wiped = [{"op": "remove", "path": "/status" if lost == "everything" else f"/status/{lost}"}]
    await world.hub.patch(
        world.scope.run, run.name, wiped, namespace=world.namespace, subresource="status"
    )
    await run.approve("before")
    await world.update("a", "b", "c")
    seen = await run.succeeds()
    assert [each["stageName"] for each in seen["status"]["stagesStatus"]] == ["one", "two"]
    copied = "stagedUpdateStrategySnapshot"
    assert seen["status"][copied] == before["status"][copied]


async def remaining(world: World, shorts: str) -> list[str]:
    """Those clusters whose bindings are still there."""
    return [
        short
        for short in shorts
        if await world.find(world.scope.binding, world.binding_name(short))
    ]
