"""Starting, stopping and deleting runs, and waiting for the result."""

from tests.starter.driven.rollouts import APPROVAL, Rollout, going
from tests.starter.typed import nothing_printed
from tests.support.eventually import eventually
from tests.workflows.runs import started


async def test_starting_a_planned_run_prints_which_clusters_start(rollout: Rollout) -> None:
    await rollout.create()
    await rollout.run(state="Initialize")
    await rollout.reaches("UpdateRunInitializedSuccessfully", kind="Initialized")
    typed = await rollout.type("run", "start", rollout.name)
    assert typed.code == 0, typed.err
    first, _ = rollout.clusters
    assert going(typed) == [f"run {rollout.name} is running", f"stage one begins: {first}"]


async def test_starting_a_run_that_reaches_a_gate_prints_the_command_that_approves_it(
    rollout: Rollout,
) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    await rollout.run(state="Initialize")
    typed = await rollout.type("run", "start", rollout.name)
    assert typed.code == 0, typed.err
    command = ["  fleetgate approve", rollout.name, "one --before", *rollout.flags]
    assert typed.out.splitlines()[1:] == [
        "waiting for approval before stage one",
        " ".join(command),
    ]


async def test_stopping_waits_for_the_cluster_in_flight(rollout: Rollout) -> None:
    first, second = rollout.clusters
    await rollout.create()
    await rollout.run()
    await started(rollout.placement, first)
    printed = nothing_printed()
    stopping = rollout.typing("run", "stop", rollout.name, printed=printed)
    await rollout.is_stopping()
    # The answer counts what is in flight when it is given.
    await eventually(lambda: bool(printed["stdout"].getvalue()))
    await rollout.update(first)
    typed = await stopping
    assert typed.code == 0, typed.err
    # On a busy machine the cluster may get stuck in between.
    answer, *stuck, updated, end = typed.out.splitlines()
    assert all("stuck" in each for each in stuck)
    assert "it waits for 1 cluster in flight" in answer
    assert updated.startswith(f"one/{first} updated in ")
    assert end == "stopped; 1 of 2 clusters are done"

    again = await rollout.type("run", "start", rollout.name)
    assert going(again)[1:] == [f"stage one continues: {second}"]


async def test_a_stop_that_times_out_says_what_it_waits_for(rollout: Rollout) -> None:
    first, _ = rollout.clusters
    await rollout.create()
    await rollout.run()
    await started(rollout.placement, first)
    asked = await rollout.type("run", "stop", rollout.name, "--no-wait")
    assert asked.code == 0, asked.err
    await rollout.is_stopping()
    typed = await rollout.type("run", "stop", rollout.name, "--timeout", "1s")
    assert typed.code == 1
    late = f"error: run {rollout.name} is not stopped after 1s; it is still "
    # On a busy machine the cluster may be stuck by then.
    assert typed.err.partition("\n")[0] in (
        f"{late}stopping, {first} to finish first",
        f"{late}stuck at {first} in stage one",
    )
    assert f"fleetgate run watch {rollout.name}" in typed.err


async def test_a_stop_without_waiting_prints_only_the_answer(rollout: Rollout) -> None:
    first, _ = rollout.clusters
    await rollout.create()
    await rollout.run()
    await started(rollout.placement, first)
    typed = await rollout.type("run", "stop", rollout.name, "--no-wait")
    assert typed.code == 0, typed.err
    assert len(typed.out.splitlines()) == 1


async def test_deleting_an_active_run_asks_and_waits_until_it_is_gone(rollout: Rollout) -> None:
    await rollout.create(stages=[rollout.stage("one", beforeStageTasks=[APPROVAL])])
    await rollout.run()
    await rollout.asked(f"{rollout.name}-before-one")
    refused = await rollout.type("run", "delete", rollout.name)
    assert refused.code == 2
    assert f"run {rollout.name} is active: waiting" in refused.err
    assert "add --yes" in refused.err

    typed = await rollout.type("run", "delete", rollout.name, "--yes")
    assert typed.code == 0, typed.err
    kinds, namespace = rollout.placement.scope, rollout.placement.namespace
    assert await rollout.placement.hub.find(kinds.run, rollout.name, namespace=namespace) is None
    assert await rollout.placement.find_approval(f"{rollout.name}-before-one") is None
