"""The tutorial's second part: a rollout that is stopped and resumed, then a rollback."""

from api.kinds import CLUSTER_STAGED_UPDATE_RUN as RUN
from planning.runs import views
from planning.runs.phases import Phase
from starter.demo import deeds, looking, manifests
from starter.demo.first_rollout import (
    asks_for_approval,
    everywhere,
    is_in,
    set_value,
    staging_is_updated,
)
from starter.demo.tale import Tale
from starter.failures import ExitCode


async def stop(tale: Tale) -> None:
    """Roll out a third change and stop it midway."""
    name = manifests.SECOND_RUN
    tale.teller.step(
        "Roll out a third change, and stop it midway",
        "Without an index, a run uses the content as it is now.",
    )
    await tale.do(set_value("value3"))
    options = ("--placement", manifests.PLACEMENT, "--strategy", manifests.STRATEGY)
    await tale.do(deeds.fleetgate("run", "create", name, *options, "--state", "Run"))
    await tale.eyes.until_run(name, "done with staging's clusters", staging_is_updated)
    await tale.do(deeds.fleetgate("run", "stop", name, "--comment", "error rate is up"))
    run = await tale.eyes.until_run(name, "stopped", is_in(Phase.STOPPED))
    if run.status.resource_snapshot_index_used != "2":
        raise looking.not_seen(f"index 2; found {run.status.resource_snapshot_index_used}")
    await tale.do(deeds.get(RUN, name))
    tale.teller.saw("the run uses snapshot 2 and has stopped; canary keeps what it has")
    await tale.members_have({"member1": "value2", "member2": "value3", "member3": "value2"})


async def resume(tale: Tale) -> None:
    """Resume the stopped run, and follow it to its end."""
    name = manifests.SECOND_RUN
    tale.teller.step("Resume it", "`watch` follows a run, here until a person must act.")
    await tale.do(deeds.fleetgate("run", "start", name))
    await tale.do(
        deeds.fleetgate("run", "watch", name, "--exit-on-gate", live=True), code=ExitCode.GATE
    )
    await tale.do(deeds.fleetgate("approve", name, "canary", "--before", "--comment", "looks good"))
    await tale.do(deeds.fleetgate("run", "watch", name, live=True))
    tale.teller.saw("resumed, approved, succeeded")
    await tale.members_have(everywhere("value3"))


async def roll_back(tale: Tale) -> None:
    """Roll back to snapshot 0 with a new run."""
    name = manifests.ROLLBACK
    tale.teller.step(
        "Roll back", "A new run with an older snapshot, through the same stages and gates."
    )
    options = ("--to", "0", "--name", name, "--yes")
    await tale.do(deeds.fleetgate("rollback", manifests.PLACEMENT, *options))
    run = await tale.eyes.until_run(name, "waiting for an approval", asks_for_approval)
    await tale.members_have({"member1": "value3", "member2": "value1", "member3": "value3"})
    stage = views.of(run).gates.approvals[0].stage
    await tale.do(deeds.fleetgate("approve", name, stage))
    await tale.eyes.until_run(name, "succeeded", is_in(Phase.SUCCEEDED))
    await tale.do(deeds.fleetgate("run", "list"))
    tale.teller.saw("rolled back stage by stage")
    await tale.members_have(everywhere("value1"))
