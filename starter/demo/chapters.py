"""The chapters of the tutorial: the first rollout, one that is stopped and resumed, a rollback."""

from api.base import Condition
from api.kinds import CLUSTER_APPROVAL_REQUEST as APPROVAL
from api.kinds import CLUSTER_RESOURCE_PLACEMENT as PLACEMENT
from api.kinds import CLUSTER_RESOURCE_SNAPSHOT as SNAPSHOT
from api.kinds import CLUSTER_STAGED_UPDATE_RUN as RUN
from api.kinds import CLUSTER_STAGED_UPDATE_STRATEGY as STRATEGY
from api.kinds import CONFIG_MAP
from api.names import IS_LATEST_SNAPSHOT, RESOURCE_INDEX
from api.reasons import ConditionType
from api.runs import UpdateRun
from hub import Json
from planning import conditions
from planning.runs import phases, views
from planning.runs.phases import Phase, Progress
from starter.demo import checking, manifests, typed_commands
from starter.demo.checking import RunCheck
from starter.demo.tour import Tour
from starter.failures import ExitCode


async def publish(tour: Tour) -> None:
    """Put content on the hub, with a placement that picks its clusters."""
    tour.narrator.step(
        "Publish something on the hub",
        "A namespace with a ConfigMap, and a placement that picks all clusters but leaves the",
        "rollout to update runs (strategy External).",
    )
    await tour.do(typed_commands.create_namespace(manifests.NAMESPACE))
    await tour.do(
        typed_commands.create_config_map(manifests.CONFIG_MAP, manifests.NAMESPACE, "value1")
    )
    await tour.do(typed_commands.apply(PLACEMENT, manifests.PLACEMENT_MANIFEST))
    await tour.checks.until(PLACEMENT, manifests.PLACEMENT, "scheduled", _is_scheduled)
    await until_snapshot(tour, "0")
    await tour.do(typed_commands.get(PLACEMENT, manifests.PLACEMENT))
    tour.narrator.saw("three clusters are scheduled, snapshot 0 holds the content")
    await tour.members_have({"member1": "-", "member2": "-", "member3": "-"})


async def change(tour: Tour) -> None:
    """Change the content: a new snapshot appears, and nothing is rolled out."""
    tour.narrator.step("Change the content", "Each change is kept as a snapshot with an index.")
    await tour.do(set_value("value2"))
    await until_snapshot(tour, "1")
    await tour.do(typed_commands.get(SNAPSHOT, columns=(RESOURCE_INDEX, IS_LATEST_SNAPSHOT)))
    tour.narrator.saw("snapshot 1 is the latest")
    await tour.members_have({"member1": "-", "member2": "-", "member3": "-"})


async def plan(tour: Tour) -> None:
    """Define how to roll out, and check the plan before the run starts."""
    tour.narrator.step(
        "Define how to roll out, and check the plan",
        "Staging first, then a short wait; canary after an approval, its clusters sorted by a",
        "label, half of them at a time. With state Initialize the run is only planned.",
    )
    await tour.do(typed_commands.apply(STRATEGY, manifests.STRATEGY_MANIFEST))
    manifest = manifests.run_manifest(manifests.FIRST_RUN, index="1", state="Initialize")
    await tour.do(typed_commands.apply(RUN, manifest))
    run = await tour.checks.until_run(manifests.FIRST_RUN, "planned", is_in(Phase.PLANNED))
    _check_plan(run)
    await tour.do(typed_commands.fleetgate("run", "show", manifests.FIRST_RUN))
    tour.narrator.saw("planned: staging with member2, then canary with member3 and member1")
    await tour.members_have({"member1": "-", "member2": "-", "member3": "-"})


async def start(tour: Tour) -> None:
    """Start the run: staging is updated, then the run waits."""
    tour.narrator.step("Start it", "From here on a Temporal workflow drives it.")
    await tour.do(typed_commands.patch(RUN, manifests.FIRST_RUN, {"spec": {"state": "Run"}}))
    await tour.checks.until_run(
        manifests.FIRST_RUN, "done with staging's clusters", staging_is_updated
    )
    tour.narrator.saw("stage staging is updated")
    await tour.members_have({"member1": "-", "member2": "value2", "member3": "-"})


async def approve(tour: Tour) -> None:
    """Wait for the gate before canary and approve it; the rollout completes."""
    tour.narrator.step(
        "Approve canary", "The timed wait ends by itself; the next gate needs a person."
    )
    run = await tour.checks.until_run(
        manifests.FIRST_RUN, "waiting for an approval", asks_for_approval
    )
    _check_wait(run)
    await tour.do(typed_commands.get(APPROVAL))
    tour.narrator.saw(f"staging has soaked for {manifests.WAIT_SECONDS} s, canary has not started")
    await tour.members_have({"member1": "-", "member2": "value2", "member3": "-"})
    await tour.do(typed_commands.fleetgate("approve", manifests.FIRST_RUN, "canary"))
    run = await tour.checks.until_run(manifests.FIRST_RUN, "succeeded", is_in(Phase.SUCCEEDED))
    _check_order(run)
    await tour.do(typed_commands.get(RUN, manifests.FIRST_RUN))
    tour.narrator.saw("canary was updated one at a time: member3 (order=1), then member1 (order=2)")
    await tour.members_have(everywhere("value2"))


def set_value(value: str) -> typed_commands.TutorialCommand:
    """Make the command that changes the ConfigMap on the hub."""
    change = {"data": {"key": value}}
    return typed_commands.patch(
        CONFIG_MAP, manifests.CONFIG_MAP, change, namespace=manifests.NAMESPACE
    )


def everywhere(value: str) -> dict[str, str]:
    """Return the same value for every member."""
    return dict.fromkeys(("member1", "member2", "member3"), value)


async def until_snapshot(tour: Tour, index: str) -> None:
    """Wait until the snapshot with this index is the latest."""
    name = f"{manifests.PLACEMENT}-{index}-snapshot"
    await tour.checks.until(SNAPSHOT, name, "marked as the latest", _is_latest)


def is_in(phase: Phase) -> RunCheck:
    """Return a check whether a run is in the phase."""
    return lambda run: phases.phase(run.status) is phase


def asks_for_approval(run: UpdateRun) -> bool:
    """Return whether the run waits for a person."""
    return bool(views.of(run).gates.approvals)


def staging_is_updated(run: UpdateRun) -> bool:
    """Return whether all clusters of the first stage are done."""
    stages = views.of(run).stages
    return bool(stages) and all(each.progress is Progress.DONE for each in stages[0].clusters)


def _is_scheduled(placement: Json) -> bool:
    found = [
        Condition.from_wire(each) for each in placement.get("status", {}).get("conditions", [])
    ]
    return conditions.has(found, f"ClusterResourcePlacement{ConditionType.SCHEDULED}")


def _is_latest(snapshot: Json) -> bool:
    labels: dict[str, str] = snapshot["metadata"].get("labels", {})
    return labels.get(IS_LATEST_SNAPSHOT) == "true"


def _check_plan(run: UpdateRun) -> None:
    planned = [(each.name, [c.name for c in each.clusters]) for each in views.of(run).stages]
    if planned != [("staging", ["member2"]), ("canary", ["member3", "member1"])]:
        raise checking.not_seen(f"staging member2, canary member3 and member1; found {planned}")


def _check_wait(run: UpdateRun) -> None:
    staging = run.status.stages_status[0]
    updated = checking.moment(staging.clusters[0], ConditionType.SUCCEEDED)
    waited = staging.end_time - updated if staging.end_time else None
    # The API stores whole seconds, so a wait may appear up to one second too short.
    if waited is None or waited.total_seconds() < manifests.WAIT_SECONDS - 1:
        raise checking.not_seen(
            f"a wait of {manifests.WAIT_SECONDS} s after staging; found {waited}"
        )


def _check_order(run: UpdateRun) -> None:
    first, second = run.status.stages_status[1].clusters
    done = checking.moment(first, ConditionType.SUCCEEDED)
    if checking.moment(second, ConditionType.STARTED) < done:
        raise checking.not_seen("member1 started after member3 was done")


# -- the later rollouts --------------------------------------------------------------------


async def stop(tour: Tour) -> None:
    """Roll out a third change and stop it midway."""
    name = manifests.SECOND_RUN
    tour.narrator.step(
        "Roll out a third change, and stop it midway",
        "Without an index, a run uses the content as it is now.",
    )
    await tour.do(set_value("value3"))
    options = ("--placement", manifests.PLACEMENT, "--strategy", manifests.STRATEGY)
    await tour.do(typed_commands.fleetgate("run", "create", name, *options, "--state", "Run"))
    await tour.checks.until_run(name, "done with staging's clusters", staging_is_updated)
    await tour.do(typed_commands.fleetgate("run", "stop", name, "--comment", "error rate is up"))
    run = await tour.checks.until_run(name, "stopped", is_in(Phase.STOPPED))
    if run.status.resource_snapshot_index_used != "2":
        raise checking.not_seen(f"index 2; found {run.status.resource_snapshot_index_used}")
    await tour.do(typed_commands.get(RUN, name))
    tour.narrator.saw("the run uses snapshot 2 and has stopped; canary keeps what it has")
    await tour.members_have({"member1": "value2", "member2": "value3", "member3": "value2"})


async def resume(tour: Tour) -> None:
    """Resume the stopped run, and follow it to its end."""
    name = manifests.SECOND_RUN
    tour.narrator.step("Resume it", "`watch` follows a run, here until a person must act.")
    await tour.do(typed_commands.fleetgate("run", "start", name))
    await tour.do(
        typed_commands.fleetgate("run", "watch", name, "--exit-on-gate", live=True),
        code=ExitCode.GATE,
    )
    await tour.do(
        typed_commands.fleetgate("approve", name, "canary", "--before", "--comment", "looks good")
    )
    await tour.do(typed_commands.fleetgate("run", "watch", name, live=True))
    tour.narrator.saw("resumed, approved, succeeded")
    await tour.members_have(everywhere("value3"))


async def roll_back(tour: Tour) -> None:
    """Roll back to snapshot 0 with a new run."""
    name = manifests.ROLLBACK
    tour.narrator.step(
        "Roll back", "A new run with an older snapshot, through the same stages and gates."
    )
    options = ("--to", "0", "--name", name, "--yes")
    await tour.do(typed_commands.fleetgate("rollback", manifests.PLACEMENT, *options))
    run = await tour.checks.until_run(name, "waiting for an approval", asks_for_approval)
    await tour.members_have({"member1": "value3", "member2": "value1", "member3": "value3"})
    tour.narrator.say("An approval is a condition of an object, so kubectl alone can give it too:")
    request = views.of(run).gates.approvals[0].request
    await tour.do(typed_commands.approve(APPROVAL, request))
    await tour.checks.until_run(name, "succeeded", is_in(Phase.SUCCEEDED))
    await tour.do(typed_commands.fleetgate("run", "list"))
    tour.narrator.saw("rolled back stage by stage")
    await tour.members_have(everywhere("value1"))
