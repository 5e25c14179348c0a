"""The stage after all others: removing clusters that the placement no longer picks.

contract: update-runs 8.8
"""

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import ClusterUpdated, FollowBindings, RemoveCluster
    from planning.runs import marks
    from planning.runs.ledger import DELETION
    from workflows import calls
    from workflows.rollout import Rollout


async def remove_clusters(rollout: Rollout) -> None:
    """Delete all bindings at once and wait until they are gone."""
    rollout.stage = DELETION
    await rollout.until_running()
    marks.run_progressing(rollout.ledger, workflow.now())
    marks.stage_started(rollout.ledger, DELETION, workflow.now())
    clusters = [each.cluster_name for each in rollout.ledger.stage(DELETION).clusters]
    if clusters:
        await _remove(rollout, clusters)
        await rollout.until_running()
    marks.stage_succeeded(rollout.ledger, DELETION, workflow.now())


async def _remove(rollout: Rollout, clusters: list[str]) -> None:
    follower = calls.follower(
        FollowBindings(
            run=rollout.run,
            placement=rollout.placement,
            stage=rollout.ledger.stage(DELETION).stage_name,
            clusters=rollout.targets.leaving,
        ),
        summary=f"deletion: bindings of {rollout.placement}",
    )
    removals = [_remove_one(rollout, position, name) for position, name in enumerate(clusters)]
    await asyncio.gather(*removals)
    follower.cancel()


async def _remove_one(rollout: Rollout, position: int, cluster: str) -> None:
    now = workflow.now()
    rollout.in_flight[cluster] = now
    marks.cluster_started(rollout.ledger, DELETION, position, now)
    request = RemoveCluster(
        run=rollout.run, cluster=cluster, binding=rollout.targets.leaving[cluster]
    )
    await calls.cluster("remove_cluster", request, ClusterUpdated, cluster=cluster)
    del rollout.in_flight[cluster]
    marks.cluster_succeeded(rollout.ledger, DELETION, position, workflow.now())
