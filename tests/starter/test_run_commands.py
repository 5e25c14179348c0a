"""The commands of `fleetgate run` and `fleetgate approve` against a real hub."""

import asyncio
import json

import pytest
import yaml

from hub import NotFound
from tests.starter.runs import RunOnHub, recorded
from tests.starter.typed import Fleetgate
from tests.support.eventually import eventually, patience


@pytest.fixture
async def gated(run: RunOnHub) -> RunOnHub:
    """A run that waits for the approval before its stage canary, and the request for it."""
    await run.create("approval-before-canary", state="Run")
    status = (await run.read())["status"]
    status["stagesStatus"][1]["beforeStageTaskStatus"][0]["approvalRequestName"] = run.request
    await run.say(status)
    await run.ask()
    return run


async def test_create_writes_the_object_that_the_options_describe(run: RunOnHub) -> None:
    typed = await run.type(
        *("run", "create", run.name, "--placement", "p", "--strategy", "s", "--index", "3")
    )
    assert typed.code == 0, typed.err
    kind = run.scope.run.kind.lower()
    assert typed.out == f"{kind}.placement.kubernetes-fleet.io/{run.name} created\n"
    assert (await run.read())["spec"] == {
        "placementName": "p",
        "stagedRolloutStrategyName": "s",
        "resourceSnapshotIndex": "3",
        "state": "Initialize",
    }


async def test_a_taken_name_is_refused_in_one_line(gated: RunOnHub) -> None:
    typed = await gated.type("run", "create", gated.name, "--placement", "p", "--strategy", "s")
    assert typed.code == 1
    assert typed.err.startswith("error: ")
    assert "already exists" in typed.err
    assert "Traceback" not in typed.err


async def test_the_hubs_reason_for_a_refusal_is_shown(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("run", "create", "n" * 64, "--placement", "p", "--strategy", "s")
    assert typed.code == 1
    assert "metadata.name max length is 63" in typed.err


async def test_show_fits_one_screen_and_suggests_the_next_command(gated: RunOnHub) -> None:
    typed = await gated.type("run", "show", gated.name)
    assert typed.code == 0, typed.err
    assert "waiting for approval before stage canary" in typed.out
    command = ["fleetgate approve", gated.name, "canary --before", *gated.flags]
    assert " ".join(command) in typed.out
    assert len(typed.out.splitlines()) <= 24
    assert max(len(line) for line in typed.out.splitlines()) <= 100
    assert "\x1b" not in typed.out


async def test_a_missing_run_has_its_own_exit_code(run: RunOnHub) -> None:
    for command in ("show", "start", "stop", "watch", "delete"):
        typed = await run.type("run", command, run.name)
        assert (command, typed.code) == (command, 3)
        assert f'"{run.name}" not found' in typed.err


async def test_list_shows_what_each_run_is_doing(gated: RunOnHub) -> None:
    typed = await gated.type("run", "list")
    assert typed.code == 0, typed.err
    line = next(line for line in typed.out.splitlines() if gated.name in line)
    assert "1/3" in line
    assert "waiting: approval before" in line
    assert "…" not in typed.out


async def test_runs_of_all_namespaces_are_listed_with_their_namespace(gated: RunOnHub) -> None:
    typed = await gated.fleetgate("run", "list", "-A")
    lines = [line.split()[:2] for line in typed.out.splitlines()]
    assert (["default", gated.name] in lines) == bool(gated.namespace)


async def test_objects_are_printed_as_json_yaml_and_names(gated: RunOnHub) -> None:
    as_json = await gated.type("run", "show", gated.name, "-o", "json")
    as_yaml = await gated.type("run", "show", gated.name, "-o", "yaml")
    as_names = await gated.type("run", "list", "-o", "name")
    kind, uid = gated.scope.run.kind, (await gated.read())["metadata"]["uid"]
    assert json.loads(as_json.out)["metadata"]["uid"] == uid
    assert yaml.safe_load(as_yaml.out)["kind"] == kind
    named = f"{kind.lower()}.placement.kubernetes-fleet.io/{gated.name}"
    assert named in as_names.out.splitlines()


async def test_without_temporal_stop_and_start_write_the_object(gated: RunOnHub) -> None:
    stopped = await gated.type("run", "stop", gated.name, "--no-wait")
    assert stopped.code == 0, stopped.err
    assert "Temporal cannot be reached; set spec.state to Stop" in stopped.out
    assert (await gated.read())["spec"]["state"] == "Stop"
    started = await gated.type("run", "start", gated.name, "--no-wait")
    assert started.code == 0, started.err
    assert (await gated.read())["spec"]["state"] == "Run"


async def test_without_temporal_approve_writes_the_condition_for_the_objects_generation(
    gated: RunOnHub,
) -> None:
    gate = ("canary", "--before", "--comment", "lgtm", "--no-wait")
    typed = await gated.type("approve", gated.name, *gate)
    assert typed.code == 0, typed.err
    request = await gated.hub.get(gated.scope.approval, gated.request, namespace=gated.namespace)
    (condition,) = request["status"]["conditions"]
    assert condition["type"] == "Approved"
    assert condition["status"] == "True"
    assert condition["observedGeneration"] == request["metadata"]["generation"]
    assert condition["message"].startswith("lgtm (by "), "the kubeconfig's user is named"


async def test_it_says_so_if_no_worker_reacts(gated: RunOnHub) -> None:
    typed = await gated.type("run", "stop", gated.name, "--timeout", "1s")
    assert typed.code == 1
    assert "no worker has reacted to its state Stop yet; is one running?" in typed.err


async def test_a_run_that_cannot_be_planned_is_a_failure_with_the_reason(run: RunOnHub) -> None:
    await run.create("planned", state="Initialize")
    await run.say({"conditions": [], "stagesStatus": []})
    starting = asyncio.create_task(run.type("run", "start", run.name))
    await eventually(run.read, lambda seen: seen["spec"]["state"] == "Run")
    await run.say(recorded("initialization-failed")["status"])
    typed = await asyncio.wait_for(starting, timeout=patience())
    assert typed.code == 1
    why = "failed: no resourceSnapshots with index `1` found for placement `/example-placement`"
    assert f"error: run {run.name} {why}\n" in typed.err
    again = await run.type("run", "start", run.name)
    assert f"run {run.name} has {why}; that is final" in again.err


async def test_a_run_that_fails_instead_of_stopping_is_a_failure(gated: RunOnHub) -> None:
    stopping = asyncio.create_task(gated.type("run", "stop", gated.name))
    await eventually(gated.read, lambda seen: seen["spec"]["state"] == "Stop")
    await gated.say(recorded("preempted")["status"])
    typed = await asyncio.wait_for(stopping, timeout=patience())
    assert typed.code == 1
    assert typed.err.startswith(f"error: run {gated.name} ended before it could stop: failed: ")


async def test_an_invalid_duration_is_a_usage_error(gated: RunOnHub) -> None:
    typed = await gated.type("run", "stop", gated.name, "--timeout", "soon")
    assert typed.code == 2
    assert "'soon' is not a duration; write it like 90s, 5m or 1h30m" in typed.err
    assert (await gated.read())["spec"]["state"] == "Run"


async def test_nothing_is_deleted_if_one_name_is_wrong(gated: RunOnHub) -> None:
    typed = await gated.type("run", "delete", gated.name, "no-such-run", "--yes")
    assert typed.code == 3
    assert await gated.read()


async def test_each_failure_of_several_approvals_is_printed(gated: RunOnHub) -> None:
    await gated.hub.delete(gated.scope.approval, gated.request, namespace=gated.namespace)
    typed = await gated.type("approve", gated.name, "--all-pending", "--yes")
    assert typed.code == 1
    told, summary = typed.err.splitlines()
    assert told.startswith(f"{gated.name}: error: ")
    assert f'"{gated.request}" not found' in told
    assert summary == "error: 1 of 1 run did not continue; see the errors above"


async def test_approving_needs_a_run_or_all_of_them(gated: RunOnHub) -> None:
    nothing = await gated.type("approve")
    assert nothing.code == 2
    assert "specify a run, or --all-pending for all runs" in nothing.err
    both = await gated.type("approve", gated.name, "canary", "--all-pending")
    assert both.code == 2
    assert "specify a stage or --all-pending, not both" in both.err


async def test_approving_a_gate_that_is_not_open_names_the_open_one(gated: RunOnHub) -> None:
    typed = await gated.type("approve", gated.name, "staging")
    assert typed.code == 1
    assert typed.err == (
        f"error: run {gated.name} is not waiting for an approval at stage staging; "
        "it is waiting for: approval before stage canary\n"
    )


async def test_a_run_that_has_ended_is_not_started(run: RunOnHub) -> None:
    await run.create("succeeded")
    typed = await run.type("run", "start", run.name)
    assert typed.code == 1
    assert typed.err.startswith(f"error: run {run.name} has succeeded; that is final")
    watched = await run.type("run", "watch", run.name)
    assert watched.code == 0
    assert "3/3 succeeded" in watched.out


async def test_watch_can_end_when_a_person_is_needed(gated: RunOnHub) -> None:
    typed = await gated.type("run", "watch", gated.name, "--exit-on-gate")
    assert typed.code == 4
    assert "1/3 waiting for approval before stage canary" in typed.out


async def test_watch_follows_the_object_until_the_run_fails(gated: RunOnHub) -> None:
    watching = asyncio.create_task(gated.type("run", "watch", gated.name))
    await gated.say(recorded("preempted")["status"])
    typed = await asyncio.wait_for(watching, timeout=patience())
    assert typed.code == 1
    assert "failed: the binding of the updating cluster `member2`" in typed.out


async def test_watch_ends_when_the_run_is_deleted(gated: RunOnHub) -> None:
    watching = asyncio.create_task(gated.type("run", "watch", gated.name))
    deleted = await gated.type("run", "delete", gated.name, "--yes")
    assert deleted.code == 0, deleted.err
    with pytest.raises(NotFound):
        await gated.read()
    typed = await asyncio.wait_for(watching, timeout=patience())
    assert typed.code == 3
