"""What becomes of a cluster in flight whose binding somebody else has changed or removed.

contract: update-runs 8.4 (steps 4 and 6), 8.6a, 9 and 10.1
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import ClusterUpdated, UpdateCluster
    from planning import bindings
    from planning.errors import abort
    from workflows import calls
    from workflows.rollout import Rollout


async def settle(
    rollout: Rollout, request: UpdateCluster, updated: ClusterUpdated
) -> ClusterUpdated:
    """Decide how the cluster's update ended, which may take until the run is resumed.

    An answer that the binding is gone means that the cluster has another one by now.

    Raises:
        RunAborted: while the run stops, there is no binding left.
    """
    while not updated.done:
        if rollout.may_go_on:
            # Whether the run may go on at all comes first, in words of its own.
            await rollout.until_looked()
            if rollout.may_go_on:
                return _taken(rollout, request, updated)
        elif updated.gone:
            raise abort(bindings.missing(cluster=request.cluster, stage=request.stage))
        else:
            updated = await _whoever_ends_it(rollout, request, updated)
    return updated


def _taken(rollout: Rollout, request: UpdateCluster, updated: ClusterUpdated) -> ClusterUpdated:
    if not updated.preempted:
        return updated
    if request.cluster in rollout.lost:
        # Nobody took it: the hub was restored, and knows nothing of the write. It is done anew.
        return ClusterUpdated(gone=True)
    # The scheduler may have replaced the binding, and then the new one is to be looked at.
    binding = rollout.targets.selected[request.cluster]
    text = bindings.preempted(
        cluster=request.cluster, stage=request.stage, binding=rollout.run.reference(binding)
    )
    return ClusterUpdated(preempted=text)


async def _whoever_ends_it(
    rollout: Rollout, request: UpdateCluster, updated: ClusterUpdated
) -> ClusterUpdated:
    """While the run stops, nobody asks whose content a binding has, only whether it is done."""
    ended = calls.waiter(request, ClusterUpdated, summary=f"{request.cluster}: taken by others")
    await workflow.wait_condition(lambda: ended.done() or rollout.may_go_on)
    if ended.done():
        return ended.result()
    calls.give_up(ended)
    return updated
