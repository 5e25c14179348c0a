"""Approving, and waiting for the result."""

import pytest

from api.kinds import NAMESPACED_SCOPE
from starter.people import user_of
from tests.starter.driven.rollouts import APPROVAL, Rollout, going
from tests.support.conditions import says


async def test_the_only_open_gate_is_approved_and_the_next_clusters_are_printed(
    rollout: Rollout,
) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    await rollout.run()
    await rollout.waits_for_approval()
    typed = await rollout.type("approve", rollout.name)
    assert typed.code == 0, typed.err
    first, _ = rollout.clusters
    assert going(typed) == [
        "stage one (before) is approved",
        f"stage one begins: {first}",
    ]


async def test_the_next_gate_is_printed_if_no_cluster_comes_before_it(rollout: Rollout) -> None:
    first, second = rollout.clusters
    stages = [
        rollout.stage("one", cluster=first, afterStageTasks=[APPROVAL]),
        rollout.stage("two", cluster=second, beforeStageTasks=[APPROVAL]),
    ]
    await rollout.create(stages=stages)
    await rollout.run()
    await rollout.update(first)
    await rollout.asked(f"{rollout.name}-after-one")
    typed = await rollout.type("approve", rollout.name)
    assert typed.code == 0, typed.err
    command = ["  fleetgate approve", rollout.name, "two --before", *rollout.flags]
    assert typed.out.splitlines() == [
        "stage one (after) is approved",
        "waiting for approval before stage two",
        " ".join(command),
    ]


async def test_an_approval_names_the_user_that_the_hub_knows(rollout: Rollout) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    await rollout.run()
    request = f"{rollout.name}-before-one"
    await rollout.asked(request)
    words = ("--by", "alice", "--comment", "looks good", "--no-wait")
    typed = await rollout.type("approve", rollout.name, "one", *words)
    assert typed.code == 0, typed.err
    user = await user_of(rollout.placement.hub)
    assert user
    given = says(await rollout.asked(request), "Approved")
    assert given[2] == f"looks good (by {user} on behalf of alice)"


async def test_all_open_gates_are_listed_and_approved_only_after_confirmation(
    rollout: Rollout,
) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    await rollout.run()
    await rollout.waits_for_approval()
    gate = f"{rollout.name} waits for approval before stage one"
    refused = await rollout.type("approve", rollout.name, "--all-pending")
    assert refused.code == 2
    assert gate in refused.out.splitlines()
    assert "Approve 1 gate? Cannot ask without a terminal" in refused.err
    assert not says(await rollout.asked(f"{rollout.name}-before-one"), "Approved")[0]

    first, _ = rollout.clusters
    typed = await rollout.type("approve", rollout.name, "--all-pending", "--yes")
    assert typed.code == 0, typed.err
    assert f"{rollout.name}: stage one begins: {first}" in typed.out.splitlines()
    none = await rollout.type("approve", rollout.name, "--all-pending", "--yes")
    assert none.out == f"run {rollout.name} is not waiting for an approval\n"


@pytest.mark.parametrize("scope", [NAMESPACED_SCOPE], ids=["sur"])
async def test_without_a_run_the_gates_of_all_runs_are_approved(rollout: Rollout) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    for name in (rollout.name, f"{rollout.name}-too"):
        await rollout.run(name)
        await rollout.waits_for_approval(name)
    typed = await rollout.type("approve", "--all-pending", "--yes", "--no-wait")
    assert typed.code == 0, typed.err
    assert sorted(typed.out.splitlines()) == [
        f"{rollout.name} waits for approval before stage one",
        f"{rollout.name}-too waits for approval before stage one",
        f"{rollout.name}-too: stage one (before) is approved",
        f"{rollout.name}: stage one (before) is approved",
    ]


async def test_approving_a_stopped_run_does_not_wait_until_it_is_resumed(rollout: Rollout) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    await rollout.run()
    await rollout.asked(f"{rollout.name}-before-one")
    await rollout.type("run", "stop", rollout.name)
    typed = await rollout.type("approve", rollout.name)
    assert typed.code == 0, typed.err
    assert "it takes effect when the run is resumed" in typed.out
