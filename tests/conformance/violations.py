"""Changes around an active run after which it cannot continue (section 9), with its errors.

The changes are for a run that `situations.at_a_gate` creates.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from hub import Json
from tests.conformance.objects import NUMBER_OF_CLUSTERS
from tests.conformance.pace import between_two_looks
from tests.conformance.texts import E_ABORT, E_UNEXP, E_USER, E_VALID, unplaced
from tests.conformance.world import World
from tests.support.hand_placement import LATEST, POLICY_INDEX

PICK_N: Json = {"placementType": "PickN", "numberOfClusters": 3}
Change = Callable[[World], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A change after which a run cannot continue."""

    name: str
    change: Change
    text: Callable[[World], str]
    undo: Change | None = None
    """Reverts the change, if that is possible."""
    policy: Json | None = None

    def __str__(self) -> str:
        return self.name


# -- the changes ---------------------------------------------------------------------------


def policy_name(world: World) -> str:
    return f"{world.name}-0"


async def replace_placement(world: World) -> None:
    with between_two_looks():
        await world.delete(world.scope.placement, world.name)
        await world.placement(strategy={"type": "RollingUpdate"})


async def apply_otherwise(world: World) -> None:
    strategy = {"type": "External", "applyStrategy": {"type": "ServerSideApply"}}
    await world.patch(world.scope.placement, world.name, {"spec": {"strategy": strategy}})


async def apply_as_before(world: World) -> None:
    strategy = {"applyStrategy": None}
    await world.patch(world.scope.placement, world.name, {"spec": {"strategy": strategy}})


def label_policy(**labels: str | None) -> Change:
    names = {"latest": LATEST, "index": POLICY_INDEX}

    async def change(world: World) -> None:
        found = {names[key]: value for key, value in labels.items()}
        await world.relabel(world.scope.policy_snapshot, policy_name(world), found)

    return change


def count_clusters(count: str | None) -> Change:
    async def change(world: World) -> None:
        patch = {"metadata": {"annotations": {NUMBER_OF_CLUSTERS: count}}}
        await world.patch(world.scope.policy_snapshot, policy_name(world), patch)

    return change


async def change_policy(world: World) -> None:
    with between_two_looks():
        await world.outdate_policy(0)
        await world.hand.policy(1)


async def delete_bindings(world: World) -> None:
    with between_two_looks():
        for short in "abc":
            await world.delete(world.scope.binding, world.binding_name(short))


async def join_stage_one(world: World) -> None:
    await world.member("d", {"stage": "one", "order": "3"})
    await world.binding("d")


async def move_to_stage_two(world: World) -> None:
    await world.label("b", {"stage": "none", "tier": "second"})


def label(short: str, **labels: str | None) -> Change:
    return lambda world: world.label(short, labels)


VIOLATIONS = [
    Violation(
        "the placement is deleted",
        lambda world: world.delete(world.scope.placement, world.name),
        lambda _: f"{E_VALID}: {E_USER}: parent placement not found",
        undo=lambda world: world.placement(),
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
        undo=label_policy(latest="true"),
    ),
    Violation(
        "two policy snapshots are the latest",
        lambda world: world.hand.policy(1),
        lambda world: (
            f"{E_VALID}: {E_UNEXP}: multiple active policy snapshots found for placement "
            f"{world.key(world.name)}: got 2, want 1"
        ),
        undo=lambda world: world.outdate_policy(1),
    ),
    Violation(
        "the policy snapshot loses its index",
        label_policy(index=None),
        lambda world: (
            f"{E_VALID}: {E_UNEXP}: policy snapshot `{world.key(policy_name(world))}` "
            "does not have a policy index label"
        ),
        undo=label_policy(index="0"),
    ),
    Violation(
        "the policy is no longer scheduled",
        lambda world: world.hand.say_scheduled(0, "False"),
        lambda world: f"{E_VALID}: policy snapshot `{policy_name(world)}` not fully scheduled yet",
        undo=lambda world: world.hand.say_scheduled(0, "True"),
    ),
    Violation(
        "the number of clusters is missing",
        count_clusters(None),
        lambda world: (
            f"{E_VALID}, {E_UNEXP}: cannot find annotation {NUMBER_OF_CLUSTERS}: the policy "
            f"snapshot `{world.key(policy_name(world))}` doesn't have valid cluster count "
            "annotation"
        ),
        undo=count_clusters("3"),
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
        undo=count_clusters("3"),
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
        undo=lambda world: world.binding("c"),
        policy=PICK_N,
    ),
    Violation(
        "a cluster loses its stage",
        label("a", stage="other"),
        lambda world: unplaced(world.cluster("a")),
        undo=label("a", stage="one"),
    ),
    Violation(
        "a cluster leaves the fleet",
        lambda world: world.unregister("a"),
        lambda world: unplaced(world.cluster("a")),
        undo=lambda world: world.member("a", {"stage": "one", "order": "1"}),
    ),
    Violation(
        "a cluster is in a second stage",
        label("b", tier="second"),
        lambda world: (
            f"{E_VALID}: {E_USER}: cluster `{world.cluster('b')}` appears in more than one stages"
        ),
        undo=label("b", tier=None),
    ),
    Violation(
        "a cluster loses its place in the order",
        label("b", order="last"),
        lambda world: (
            f"{E_VALID}: {E_USER}: the sorting label `order:last` on cluster "
            f'`{world.cluster("b")}` is not valid: strconv.Atoi: parsing "last": invalid syntax'
        ),
        undo=label("b", order="2"),
    ),
    Violation(
        "a cluster joins a stage",
        join_stage_one,
        lambda _: (
            f"{E_ABORT}: the number of clusters in index `0` stage has changed, new: 3, existing: 2"
        ),
        undo=lambda world: world.delete(world.scope.binding, world.binding_name("d")),
    ),
    Violation(
        "a cluster is no longer picked",
        lambda world: world.change_binding("c", state="Unscheduled"),
        lambda _: (
            f"{E_ABORT}: the number of clusters in index `1` stage has changed, new: 0, existing: 1"
        ),
        undo=lambda world: world.change_binding("c", state="Scheduled"),
    ),
    Violation(
        "a cluster moves to another stage",
        move_to_stage_two,
        lambda _: (
            f"{E_ABORT}: the number of clusters in index `0` stage has changed, new: 1, existing: 2"
        ),
        undo=label("b", stage="one", tier=None),
    ),
    Violation(
        "the order of clusters changes",
        label("a", order="9"),
        lambda world: (
            f"{E_ABORT}: the `0` cluster in the `0` stage has changed, "
            f"new: {world.cluster('b')}, existing: {world.cluster('a')}"
        ),
        undo=label("a", order="1"),
    ),
    Violation(
        "another cluster is to be deleted",
        lambda world: world.binding("d", state="Unscheduled"),
        lambda world: (
            f"{E_ABORT}: {E_UNEXP}: the cluster `{world.cluster('d')}` to be deleted is not in "
            "the delete stage"
        ),
        undo=lambda world: world.delete(world.scope.binding, world.binding_name("d")),
    ),
]
APPLIED_OTHERWISE = Violation(
    "the apply strategy changes",
    apply_otherwise,
    lambda _: f"{E_ABORT}: {E_USER}: the applyStrategy in the updateRun is outdated, latest: ",
    undo=apply_as_before,
)
"""Its message continues with both strategies, whose format the contract leaves open."""
_OFTEN = ("the placement is deleted", "no policy snapshot is the latest", "a binding is gone")
PASSING = [
    each
    if each.name in _OFTEN
    else pytest.param(each, marks=pytest.mark.long("the engine treats them all alike"))
    for each in [*VIOLATIONS, APPLIED_OTHERWISE]
    if each.undo
]
"""Violations that may occur temporarily, between two steps of a change."""
