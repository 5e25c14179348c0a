"""Rollbacks by a policy, where the engine is killed, or Temporal lost, at each step on the way."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from api.names import ROLLBACK_OF_UID
from hub import Hub, Json
from tests.robustness.rollouts import Rollout, Rollouts
from tests.robustness.worker_processes import NewWorker
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.fault_proxy import FaultProxy, all_sprung, release
from tests.support.servers import PrivateApiServer
from tests.support.temporal_server import TemporalServer

TIMEOUT = 8
"""Seconds that a cluster may take."""
Step = Callable[[Rollout], Callable[[web.Request], bool]]


def creates_strategy(rollout: Rollout) -> Callable[[web.Request], bool]:
    """Match the request that creates the strategy of a rollback."""
    return _creates(rollout, rollout.scope.strategy.plural)


def creates_run(rollout: Rollout) -> Callable[[web.Request], bool]:
    """Match the request that creates the run of a rollback."""
    return _creates(rollout, rollout.scope.run.plural)


def gives_owner(rollout: Rollout) -> Callable[[web.Request], bool]:
    """Match the request that makes the run of a rollback the owner of its strategy."""
    end = f"/{rollout.scope.strategy.plural}/{rollout.run}-rollback"
    return lambda request: request.method == "PATCH" and request.path.endswith(end)


def _creates(rollout: Rollout, plural: str) -> Callable[[web.Request], bool]:
    namespace = rollout.placement.namespace
    end = f"/namespaces/{namespace}/{plural}" if namespace else f"/{plural}"
    return lambda request: request.method == "POST" and request.path.endswith(end)


_long = pytest.mark.long("half a minute; the virtual-time ring loses Temporal at each step too")


@pytest.mark.parametrize(
    ("step", "carried_out"),
    [
        pytest.param(creates_strategy, False, marks=_long),
        pytest.param(creates_strategy, True, marks=_long),
        pytest.param(creates_run, False, marks=_long),
        (creates_run, True),
        pytest.param(gives_owner, True, marks=_long),
    ],
)
async def test_an_engine_killed_on_the_way_makes_one_rollback(
    pair: Rollouts,
    server: PrivateApiServer,
    new_worker: NewWorker,
    tmp_path: Path,
    step: Step,
    carried_out: bool,
) -> None:
    kubeconfig = tmp_path / "proxied.kubeconfig"
    async with FaultProxy.between(server, kubeconfig=kubeconfig, seed=0) as proxy:
        first = new_worker(kubeconfig=kubeconfig)
        await first.start()
        await pair.each(_until_it_fails)
        traps = [proxy.trap(step(each), carried_out=carried_out) for each in pair]
        await all_sprung(traps)
        first.kill()
        release(traps)
    await new_worker().start()
    await pair.each(_goes_back)


@pytest.mark.long("a Temporal server of its own, and half a minute")
@pytest.mark.parametrize("step", [creates_run, gives_owner])
async def test_a_lost_temporal_makes_one_rollback(
    pair: Rollouts,
    server: PrivateApiServer,
    own_temporal: TemporalServer,
    new_worker: NewWorker,
    tmp_path: Path,
    step: Step,
) -> None:
    kubeconfig = tmp_path / "proxied.kubeconfig"
    async with FaultProxy.between(server, kubeconfig=kubeconfig, seed=0) as proxy:
        first = new_worker(kubeconfig=kubeconfig, temporal=own_temporal.address)
        await first.start()
        await pair.each(_until_it_fails)
        traps = [proxy.trap(step(each), carried_out=True) for each in pair]
        await all_sprung(traps)
        first.kill()
        release(traps)
    await own_temporal.lose_everything()
    await new_worker(temporal=own_temporal.address).start()
    await pair.each(_goes_back)


async def _until_it_fails(rollout: Rollout) -> None:
    """Run until the clusters of stage two are in flight, where they time out.

    All clusters but the last one had an earlier version.
    """
    await rollout.prepare()
    await _write_policy(rollout)
    for cluster in rollout.clusters[:-1]:
        await _give(rollout, cluster, rollout.placement.snapshot_name(0))
    await rollout.again()
    await rollout.update("one")
    await rollout.written("two")


async def _write_policy(rollout: Rollout) -> None:
    target = {"kind": rollout.scope.strategy.kind, "name": rollout.name}
    spec = {
        "targetRefs": [target],
        "clusters": {"timeout": f"{TIMEOUT}s"},
        "failures": {"action": "RollBack"},
    }
    await rollout.placement.write(rollout.scope.policy, rollout.name, {"spec": spec})


async def _give(rollout: Rollout, cluster: str, snapshot: str) -> None:
    placement = rollout.placement
    await rollout.hub.patch(
        rollout.scope.binding,
        placement.binding_name(cluster),
        {"spec": {"resourceSnapshotName": snapshot, "state": "Bound"}},
        namespace=placement.namespace,
    )


async def _goes_back(rollout: Rollout) -> None:
    """Check that one run takes back the clusters that the failed run had changed, last stage first.

    The last cluster had nothing earlier, so it stays.
    """
    back, stays = rollout.clusters[:-1], rollout.clusters[-1]
    *first, last = back
    await _has_gone_back(rollout, last)
    for cluster in first:
        binding = await rollout.placement.read_binding(cluster)
        assert binding["spec"]["resourceSnapshotName"] == rollout.placement.snapshot_name(1)
    await rollout.placement.report(last)
    await asyncio.gather(*(_has_gone_back(rollout, each) for each in first))
    await asyncio.gather(*(rollout.placement.report(each) for each in first))
    failed = await rollout.reaches("UpdateRunFailed", kind="Succeeded")
    name = f"{rollout.run}-rollback"
    assert f"; run {name} takes 3 clusters back to snapshot 0" in says(failed, "Succeeded")[2]
    made = await eventually(
        lambda: _rollbacks(rollout.hub, rollout, failed),
        lambda runs: bool(runs) and says(runs[0], "Succeeded")[0] == "True",
    )
    assert [each["metadata"]["name"] for each in made] == [name]
    stages = {
        each["stageName"]: [cluster["clusterName"] for cluster in each["clusters"]]
        for each in made[0]["status"]["stagesStatus"]
    }
    assert stages == {"two": [last], "one": first}
    kept = await rollout.placement.read_binding(stays)
    assert kept["spec"]["resourceSnapshotName"] == rollout.placement.snapshot_name(1)
    report = await eventually(
        lambda: rollout.hub.get(
            rollout.scope.report, rollout.run, namespace=rollout.placement.namespace
        ),
        lambda seen: "rollback" in seen["status"],
    )
    assert report["status"]["rollback"] == {"run": name, "cause": "Failures"}
    left = [each for each in report["status"]["clusters"] if each["outcome"] == "NotRolledBack"]
    assert [each["name"] for each in left] == [stays]
    # Created, given the earlier version by hand, updated, and taken back.
    assert await rollout.generations() == dict.fromkeys(back, 4) | {stays: 2}


async def _has_gone_back(rollout: Rollout, cluster: str) -> None:
    wanted = rollout.placement.snapshot_name(0)
    await eventually(
        lambda: rollout.placement.read_binding(cluster),
        lambda seen: (
            seen["spec"]["resourceSnapshotName"] == wanted
            and says(seen, "RolloutStarted")[0] == "True"
        ),
    )


async def _rollbacks(hub: Hub, rollout: Rollout, of: Json) -> list[Json]:
    found = await hub.list(rollout.scope.run, namespace=rollout.placement.namespace)
    uid = of["metadata"]["uid"]
    return [
        each
        for each in found.items
        if each["metadata"].get("annotations", {}).get(ROLLBACK_OF_UID) == uid
    ]
