"""`fleetgate rollback`: creates and starts a run of an older snapshot."""

import re
from pathlib import Path

import pytest

from hub import Hub, Json
from tests.agent import credentials
from tests.rights.people import bind, kubeconfig_of
from tests.starter.driven.rollouts import APPROVAL, Rollout
from tests.support.conditions import says
from tests.workflows.runs import started


async def two_versions(rollout: Rollout) -> None:
    """Roll out snapshot 0, then snapshot 1."""
    await rollout.create(versions=2)
    await rollout.roll_out(f"{rollout.name}-v0", index=0)
    await rollout.roll_out(f"{rollout.name}-v1", index=1)


async def runs_of(rollout: Rollout) -> list[str]:
    """Return the names of the placement's runs."""
    kind, namespace = rollout.placement.scope.run, rollout.placement.namespace
    found = await rollout.placement.hub.list(kind, namespace=namespace)
    return [
        each["metadata"]["name"]
        for each in found.items
        if each["spec"]["placementName"] == rollout.name
    ]


async def test_the_previous_snapshot_is_rolled_out_with_the_last_strategy(
    rollout: Rollout,
) -> None:
    await two_versions(rollout)
    typed = await rollout.type("rollback", rollout.name, "--yes")
    assert typed.code == 0, typed.err
    name, (first, _) = f"{rollout.name}-rollback-0", rollout.clusters
    assert typed.out.startswith(
        f"run {rollout.name}-v1 rolled out snapshot 1; snapshot 0 is the newest earlier one "
        f"that a run rolled out completely ({rollout.name}-v0)\n"
    )
    assert "2 clusters, in 2 waves" in typed.out
    assert f"stage one begins: {first}" in typed.out
    assert (await rollout.placement.read_run(name))["spec"] == {
        "placementName": rollout.name,
        "stagedRolloutStrategyName": rollout.name,
        "resourceSnapshotIndex": "0",
        "state": "Run",
    }
    await rollout.update(index=0)
    await rollout.reaches("UpdateRunSucceeded", run=name, kind="Succeeded")


async def test_it_asks_for_confirmation_before_it_writes_anything(rollout: Rollout) -> None:
    await two_versions(rollout)
    typed = await rollout.type("rollback", rollout.name)
    assert typed.code == 2
    asked = f"Create and start run {rollout.name}-rollback-0? Cannot ask without a terminal"
    assert asked in typed.err
    assert await runs_of(rollout) == [f"{rollout.name}-v0", f"{rollout.name}-v1"]


async def test_it_is_refused_while_another_run_is_active(rollout: Rollout) -> None:
    first, second = rollout.clusters
    await rollout.create(versions=2)
    await rollout.roll_out(f"{rollout.name}-v0", index=0)
    await rollout.run(f"{rollout.name}-v1", index=1)
    await started(rollout.placement, first, index=1)
    refused = await rollout.type("rollback", rollout.name, "--yes")
    assert refused.code == 1
    # On a busy machine the cluster may be stuck already, here and below.
    doing = rf"run {rollout.name}-v1: (updating|stuck at) {first} in stage one"
    assert re.search(doing, refused.err)
    assert f"fleetgate run stop {rollout.name}-v1" in refused.err
    assert "--stop-active" in refused.err

    typing = rollout.typing("rollback", rollout.name, "--stop-active", "--yes")
    await rollout.is_stopping(f"{rollout.name}-v1")
    await rollout.placement.report(first)
    typed = await typing
    assert typed.code == 0, typed.err
    waited_for, taken_over = (
        f"one/{first} updated in ",
        "the rollback takes over the stuck clusters",
    )
    assert waited_for in typed.out or taken_over in typed.out
    assert f"stage one begins: {first}" in typed.out
    await rollout.update(first, index=0)
    if waited_for in typed.out:
        await rollout.reaches("UpdateRunStopped", run=f"{rollout.name}-v1")
    untouched = await rollout.placement.read_binding(second)
    assert untouched["spec"]["resourceSnapshotName"] == f"{rollout.name}-0-snapshot"


async def test_a_stuck_cluster_is_taken_over(rollout: Rollout) -> None:
    first, _ = rollout.clusters
    await rollout.create(versions=2)
    await rollout.roll_out(f"{rollout.name}-v0", index=0)
    await rollout.run(f"{rollout.name}-v1", index=1)
    await started(rollout.placement, first, index=1)
    await rollout.reaches("UpdateRunStuck", run=f"{rollout.name}-v1")
    typed = await rollout.type("rollback", rollout.name, "--stop-active", "--yes")
    assert typed.code == 0, typed.err
    ends = f"the rollback takes over the stuck clusters, which ends run {rollout.name}-v1"
    assert ends in typed.out
    ended = await rollout.reaches("UpdateRunFailed", run=f"{rollout.name}-v1", kind="Succeeded")
    assert "see if there is a concurrent updateRun" in says(ended, "Succeeded")[2]
    await rollout.update(index=0)
    await rollout.reaches("UpdateRunSucceeded", run=f"{rollout.name}-rollback-0", kind="Succeeded")


async def test_any_stored_snapshot_can_be_selected(rollout: Rollout) -> None:
    await two_versions(rollout)
    wrong = await rollout.type("rollback", rollout.name, "--to", "7", "--yes")
    assert wrong.code == 3
    assert f"placement {rollout.name} has no snapshot 7; it has 0, 1" in wrong.err
    words = ("--to", "1", "--name", f"{rollout.name}-again", "--yes", "--no-wait")
    typed = await rollout.type("rollback", rollout.name, *words)
    assert typed.code == 0, typed.err
    made = await rollout.placement.read_run(f"{rollout.name}-again")
    assert made["spec"]["resourceSnapshotIndex"] == "1"


async def test_it_is_refused_without_a_previous_snapshot(rollout: Rollout) -> None:
    await rollout.create()
    never = await rollout.type("rollback", rollout.name, "--yes")
    assert never.code == 1
    assert "no run of the placement has rolled anything out" in never.err
    await rollout.roll_out(rollout.name, index=0)
    first = await rollout.type("rollback", rollout.name, "--yes")
    assert first.code == 1
    assert "rolled out snapshot 0, and no earlier snapshot is stored" in first.err
    assert "specify a snapshot with --to; available: 0" in first.err
    missing = await rollout.type("rollback", "no-such-placement", "--yes")
    assert missing.code == 3


async def test_a_missing_strategy_is_refused_before_anything_is_written(
    rollout: Rollout,
) -> None:
    await two_versions(rollout)
    typed = await rollout.type("rollback", rollout.name, "--strategy", "none", "--yes")
    assert typed.code == 1
    assert "the run could not be initialized: referenced updateStrategy not found" in typed.err
    assert len(await runs_of(rollout)) == 2


async def test_it_says_so_if_a_policy_would_keep_it_waiting_for_ever(rollout: Rollout) -> None:
    """A run that is stopped keeps its place in the line."""
    first, _ = rollout.clusters
    await rollout.create(versions=2)
    await rollout.roll_out(f"{rollout.name}-v0", index=0)
    target = {"kind": rollout.placement.scope.placement.kind, "name": rollout.name}
    spec = {"targetRefs": [target], "concurrentRuns": "Queue"}
    await rollout.placement.write(rollout.placement.scope.policy, rollout.name, {"spec": spec})
    await rollout.run(f"{rollout.name}-v1", index=1)
    await started(rollout.placement, first, index=1)
    refused = await rollout.type("rollback", rollout.name, "--stop-active", "--yes")
    assert refused.code == 1
    assert f"the rollback would wait for {rollout.name}-v1" in refused.err
    assert f"fleetgate run delete {rollout.name}-v1" in refused.err
    found = (await rollout.placement.read_run(f"{rollout.name}-v1"))["spec"]["state"]
    assert found == "Run", "it was stopped for nothing"


# -- where a rollout policy says how rollbacks go --------------------------------------------

BACKWARDS: Json = {"rollback": {"order": "Reverse", "maxConcurrency": "25%"}}


async def guarded(rollout: Rollout, policy: Json) -> None:
    """Plan a run of two stages, the second one with an approval, and write a policy for it."""
    first, second = rollout.clusters
    stages = [
        rollout.stage("one", cluster=first),
        rollout.stage("two", cluster=second, beforeStageTasks=[APPROVAL]),
    ]
    await rollout.create(versions=2, stages=stages)
    scope, name = rollout.placement.scope, rollout.name
    target = {"kind": scope.strategy.kind, "name": name}
    spec = {"targetRefs": [target], **policy}
    await rollout.placement.write(scope.policy, name, {"spec": spec})
    await rollout.run(index=1, state="Initialize")
    await rollout.reaches("UpdateRunInitializedSuccessfully", kind="Initialized")


async def test_a_policy_says_how_a_rollback_goes(rollout: Rollout, hub: Hub) -> None:
    await guarded(rollout, BACKWARDS)
    name, base = f"{rollout.name}-rollback-0", rollout.name
    typed = await rollout.type("rollback", base, "--to", "0", "--yes")
    assert typed.code == 0, typed.err
    told = f"strategy {name} is a copy of {base} that goes as rollout policy {base} says"
    assert told in typed.out
    assert f"stage two begins: {rollout.clusters[1]}" in typed.out
    run = await rollout.placement.read_run(name)
    assert run["spec"]["stagedRolloutStrategyName"] == name
    await rollout.update(*reversed(rollout.clusters), index=0)
    await rollout.reaches("UpdateRunSucceeded", run=name, kind="Succeeded")

    kind, namespace = rollout.placement.scope.strategy, rollout.placement.namespace
    strategy = await hub.get(kind, name, namespace=namespace)
    assert [each["name"] for each in strategy["spec"]["stages"]] == ["two", "one"]
    assert [each["maxConcurrency"] for each in strategy["spec"]["stages"]] == ["25%", "25%"]
    assert not any(each.get("beforeStageTasks") for each in strategy["spec"]["stages"])
    (owner,) = strategy["metadata"]["ownerReferences"]
    assert owner["uid"] == run["metadata"]["uid"]


async def test_a_strategy_that_is_named_is_used_as_it_is(rollout: Rollout) -> None:
    await guarded(rollout, BACKWARDS)
    words = ("--strategy", rollout.name, "--yes", "--no-wait")
    typed = await rollout.type("rollback", rollout.name, "--to", "0", *words)
    assert typed.code == 0, typed.err
    run = await rollout.placement.read_run(f"{rollout.name}-rollback-0")
    assert run["spec"]["stagedRolloutStrategyName"] == rollout.name


async def test_a_user_who_may_not_create_strategies_uses_the_strategy_as_it_is(
    rollout: Rollout, hub: Hub, hub_kubeconfig: Path, tmp_path: Path
) -> None:
    await guarded(rollout, BACKWARDS)
    await credentials.grant(hub, "people.yaml")
    for role in ("fleetgate-viewer", "fleetgate-content-viewer", "fleetgate-runner"):
        await bind(hub, rollout.name, role)
    jane = kubeconfig_of(rollout.name, admin=hub_kubeconfig, folder=tmp_path)
    words = ("--yes", "--no-wait", "--kubeconfig", str(jane))
    typed = await rollout.type("rollback", rollout.name, "--to", "0", *words)
    assert typed.code == 0, typed.err
    assert f"not create; the run uses strategy {rollout.name} as it is" in typed.out
    run = await rollout.placement.read_run(f"{rollout.name}-rollback-0")
    assert run["spec"]["stagedRolloutStrategyName"] == rollout.name


@pytest.mark.parametrize("words", [(), ("--strategy",)], ids=["copied", "as it is"])
async def test_a_rollback_is_never_rolled_back_itself(
    rollout: Rollout, hub: Hub, words: tuple[str, ...]
) -> None:
    """The policy of the original strategy holds for a copy, but for what it does to failures."""
    await guarded(
        rollout, {"failures": {"action": "RollBack"}, "clusters": {"timeout": "1s"}, **BACKWARDS}
    )
    named = [*words, rollout.name] if words else []
    typed = await rollout.type("rollback", rollout.name, "--to", "0", *named, "--yes", "--no-wait")
    assert typed.code == 0, typed.err
    name = f"{rollout.name}-rollback-0"
    await rollout.reaches("UpdateRunPaused", run=name)
    kind, namespace = rollout.placement.scope.report, rollout.placement.namespace
    report = await hub.get(kind, name, namespace=namespace)
    rules = {each["name"]: (each["value"], each["policy"]) for each in report["status"]["policy"]}
    assert rules["failures.action"] == ("Pause", rollout.name)
    assert rules["clusters.timeout"] == ("1s", rollout.name)


async def test_a_strategy_that_has_the_name_already_is_left_alone(rollout: Rollout) -> None:
    await guarded(rollout, BACKWARDS)
    name = f"{rollout.name}-rollback-0"
    await rollout.placement.strategy(name, [rollout.stage("other")])
    typed = await rollout.type("rollback", rollout.name, "--to", "0", "--yes")
    assert typed.code == 1
    assert f"{name} already" in typed.err
    assert "--name" in typed.err
    assert name not in await runs_of(rollout)
