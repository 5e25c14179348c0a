"""Who created, stopped, started and approved a run: in its objects, events and history."""

import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from api.kinds import EVENT
from hub import Json
from tests.placement.world import World
from tests.rights.gates import annotations
from tests.rights.people import bind, kubeconfig_of
from tests.rights.test_processes import approve, run, says, strategy
from tests.starter.typed import Typed, make_patient, type_command
from tests.support.conditions import condition_of
from tests.support.eventually import eventually
from workflows.messages import Approve, ChangeState, TemporalApprovals
from workflows.plugin import connect

Types = Callable[..., Coroutine[Any, Any, Typed]]

pytestmark = pytest.mark.both_scopes


def named(world: World, user: str) -> str:
    return f"{user}-{world.unique}"


@pytest.fixture(scope="module")
def reached_temporal(temporal_address: str) -> Iterator[None]:
    """Let commands reach Temporal."""
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.setenv("TEMPORAL_ADDRESS", temporal_address)
        make_patient(surroundings)
        yield


@pytest.fixture
async def types(
    world: World,
    own_kubeconfig: Path,
    tmp_path: Path,
    reached_temporal: None,
) -> Types:
    """Run a command as a user: jane is a runner, joe an approver, and both can reach Temporal.

    Their names have the test's suffix, because other tests have users of the same names.
    """
    for user, role in (("jane", "fleetgate-runner"), ("joe", "fleetgate-approver")):
        await bind(world.hub, named(world, user), role, namespace=world.home)

    async def typed(user: str, *words: str) -> Typed:
        kubeconfig = kubeconfig_of(named(world, user), admin=own_kubeconfig, folder=tmp_path)
        flags = ["-n", world.home] if world.home else []
        return await type_command([*words, *flags, "--kubeconfig", str(kubeconfig)])

    return typed


@pytest.fixture
async def temporal(temporal_address: str) -> Client:
    """A client of Temporal, like that of any user with access to it."""
    return await connect({"TEMPORAL_ADDRESS": temporal_address})


async def placed(world: World) -> str:
    """Create a member, a placement that picks it, and a strategy with a gate before its stage."""
    member = await world.join("a")
    await world.place(world.pick_fixed(member))
    await world.told("Scheduled", status="True")
    await strategy(world)
    return member


async def request(world: World, name: str) -> Json:
    async def look() -> Json | None:
        return await world.hub.find(
            world.scope.approval, f"{name}-before-all", namespace=world.home
        )

    return await eventually(look)


async def stored(world: World, name: str) -> Json:
    return await world.hub.get(world.scope.run, name, namespace=world.home)


async def told(world: World, name: str) -> list[str]:
    """The messages of a run's events."""
    fields = f"involvedObject.name={name}"
    found = await world.hub.list(EVENT, namespace=world.home or "default", fields=fields)
    return [each["message"] for each in found.items]


async def told_until(world: World, name: str, last: str) -> list[str]:
    """Wait for an event with this message, and return the messages of all."""

    async def look() -> list[str] | None:
        found = await told(world, name)
        return found if last in found else None

    return await eventually(look)


def workflow_id(world: World, body: Json) -> str:
    meta = body["metadata"]
    place = [world.scope.name.value, world.home, meta["name"], meta["uid"]]
    return "/".join(filter(None, place))


async def test_each_step_names_the_user_who_took_it(world: World, types: Types) -> None:
    member, name = await placed(world), f"{world.unique}-1"
    jane, joe = named(world, "jane"), named(world, "joe")
    made = await types(
        "jane", "run", "create", name, "--placement", world.name,
        "--strategy", world.unique, "--state", "Run",
    )  # fmt: skip
    assert made.code == 0, made.err
    await request(world, name)

    stopped = await types("jane", "run", "stop", name, "--comment", "lunch")
    assert stopped.code == 0, stopped.err
    assert annotations(await stored(world, name)) == {
        "created-by": jane,
        "state-by": jane,
        "state-comment": "lunch",
        "state-generation": "2",
    }
    refused = await types("joe", "run", "start", name)
    assert refused.code == 1
    assert joe in refused.err
    assert "forbidden" in refused.err
    started = await types("jane", "run", "start", name, "--by", "ann", "--no-wait")
    assert started.code == 0, started.err

    refused = await types("jane", "approve", name)
    assert refused.code == 1
    assert "forbidden" in refused.err
    assert jane in refused.err
    assert condition_of(await request(world, name), "Approved") == {}
    approved = await types("joe", "approve", name, "--comment", "fine", "--no-wait")
    assert approved.code == 0, approved.err
    assert approved.out == "stage all (before) is approved\n"
    await world.report(member)
    await says(world, name, "Succeeded")

    events = await told_until(world, name, "All stages are completed successfully")
    assert (
        f"The update run has been stopped by {jane} (lunch); set spec.state to Run to resume"
        in events
    )
    assert (
        f"The update run was resumed by {jane} on behalf of ann; it continues where it was stopped"
        in events
    )
    assert f"The approval before stage all was given: fine (by {joe})" in events
    history = await types("jane", "run", "history", name, "-o", "json")
    who = {each["what"]: (each["who"], each["comment"]) for each in json.loads(history.out)}
    assert who["created"][0] == f"{jane} with fleetgate-cli"
    assert who["asked to stop"] == (jane, "lunch")
    assert who["asked to run"][0] == f"{jane} on behalf of ann"
    assert who["approved"] == (joe, "fine")


async def test_steps_taken_with_kubectl_name_the_user_too(world: World, types: Types) -> None:
    await placed(world)
    name = await run(world, world.unique, "1")
    await request(world, name)
    patch = {"spec": {"state": "Stop"}}
    await world.hub.patch(world.scope.run, name, patch, namespace=world.home)

    async def is_stopped() -> bool:
        progressing = condition_of(await stored(world, name), "Progressing")
        return progressing.get("reason") == "UpdateRunStopped"

    await eventually(is_stopped)
    explained = await types("jane", "run", "explain", name)
    assert "Stopped by admin " in explained.out
    await world.hub.patch(world.scope.run, name, {"spec": {"state": "Run"}}, namespace=world.home)
    await approve(world, name)

    async def accepted() -> bool:
        return bool(condition_of(await request(world, name), "ApprovalAccepted"))

    await eventually(accepted)
    text = "The approval before stage all was given with kubectl: approved (by admin)"
    await told_until(world, name, text)
    history = await types("jane", "run", "history", name, "-o", "json")
    who = {each["what"]: each["who"] for each in json.loads(history.out)}
    assert who["created"] == "admin with kubectl"
    assert who["asked to stop"] == "admin"
    assert who["approved"] == "admin with kubectl"


async def test_a_message_sent_only_through_temporal_is_marked_as_such(
    world: World, temporal: Client
) -> None:
    await placed(world)
    name = await run(world, world.unique, "1")
    await request(world, name)
    handle = temporal.get_workflow_handle(workflow_id(world, await stored(world, name)))
    await handle.execute_update("pause", ChangeState(by="joe", comment="lunch"))
    stopped = annotations(await stored(world, name))
    assert stopped["state-by"] == "an unknown user of Temporal, who says: joe"
    assert stopped["state-comment"] == "lunch"
    await handle.execute_update("resume", ChangeState())
    assert annotations(await stored(world, name))["state-by"] == "an unknown user of Temporal"

    await handle.signal("approve", Approve(stage="all", by="joe) (by jane"))

    async def approved() -> Json:
        return condition_of(await request(world, name), "Approved")

    given = await eventually(approved)
    assert given["message"].endswith("(by an unknown user of Temporal, who says: joe] [by jane)")


@pytest.mark.parametrize("temporal_approvals", [TemporalApprovals.REFUSE], indirect=True)
async def test_an_operator_can_have_approvals_in_temporal_refused(
    world: World, types: Types, temporal: Client
) -> None:
    await placed(world)
    name = await run(world, world.unique, "1")
    await request(world, name)
    handle = temporal.get_workflow_handle(workflow_id(world, await stored(world, name)))
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update("approve", Approve(stage="all", by="joe"))
    assert "approvals given in Temporal alone are refused" in str(refused.value.cause)
    await handle.signal("approve", Approve(stage="all", by="joe"))
    # The query is answered after the signal has been processed.
    assert await handle.query("pending_approvals") != []
    assert condition_of(await request(world, name), "Approved") == {}
    approved = await types("joe", "approve", name, "--no-wait")
    assert approved.out == "stage all (before) is approved\n", approved.err


async def test_an_approval_that_a_run_refuses_is_not_written(world: World, types: Types) -> None:
    await placed(world)
    name = await run(world, world.unique, "1")
    await request(world, name)
    refused = await types("joe", "approve", name, "all", "--after")
    assert refused.code == 1
    assert "stage all has no open after-stage approval" in refused.err
    assert condition_of(await request(world, name), "Approved") == {}
