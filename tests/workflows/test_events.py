"""The Kubernetes events of a run, as people read them."""

import asyncio
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.events import EventActivities, write
from activities.requests import RecordEvents
from api.kinds import EVENT, Scope
from hub import Hub, Json
from planning.events import Event, EventSubject
from planning.identity import RunRef
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import started

pytestmark = pytest.mark.usefixtures("engine")

APPROVAL = {"type": "Approval"}


async def events_of(hub: Hub, body: Json) -> list[Json]:
    """Return the events of one object, in the order in which they happened."""
    found = await hub.list(EVENT, fields=f"involvedObject.uid={body['metadata']['uid']}")
    return sorted(found.items, key=lambda each: str(each["eventTime"]))


async def told(placement: HandPlacement, run: str, last: str) -> list[tuple[str, str]]:
    """Return reason and message of all events of a run, once the last one has this reason."""
    body = await placement.read_run(run)
    found = await eventually(
        lambda: events_of(placement.hub, body),
        lambda seen: seen and seen[-1]["reason"] == last,
    )
    return [(each["reason"], each["message"]) for each in found]


async def prepare(placement: HandPlacement, unique: str, *stages: Json, clusters: int = 1) -> None:
    """Create a placement on clusters `<unique>-0`, …, all of them in each stage."""
    names = [f"{unique}-{index}" for index in range(clusters)]
    await placement.create({name: {"env": unique} for name in names})
    selector = {"labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [selector | stage for stage in stages])


def flag(placement: HandPlacement) -> str:
    return f" -n {placement.namespace}" if placement.namespace else ""


async def test_kubectl_shows_the_events_of_a_run(
    placement: HandPlacement, unique: str, hub_kubeconfig: Path
) -> None:
    await prepare(placement, unique, {"name": "one"})
    await placement.create_run(unique, unique, index="0")
    await started(placement, f"{unique}-0")
    await placement.report(f"{unique}-0")
    await told(placement, unique, "Succeeded")

    kind = placement.scope.run.kind.lower()
    where = ["-n", placement.namespace or "default"]
    listed = await kubectl(hub_kubeconfig, "events", "--for", f"{kind}/{unique}", *where)
    described = await kubectl(hub_kubeconfig, "describe", kind, unique, *where)
    for text in (listed, described.partition("Events:")[2]):
        reasons = [word for word in text.split() if word in REASONS]
        assert reasons == ["Initialized", "StageStarted", "Succeeded"], text
    assert "fleetgate" in described.partition("Events:")[2]


REASONS = {"Initialized", "StageStarted", "Succeeded"}


async def kubectl(kubeconfig: Path, *words: str) -> str:
    """Run kubectl and return what it prints."""
    command = ["kubectl", "--kubeconfig", str(kubeconfig), *words]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_an_event_that_is_written_again_is_not_duplicated(
    hub: Hub, placement: HandPlacement, unique: str, scope: Scope
) -> None:
    await prepare(placement, unique, {"name": "one"})
    run = await placement.create_run(unique, unique, index="0", state="Initialize")
    await told(placement, unique, "Initialized")
    ref = RunRef(
        scope_name=scope.name,
        namespace=placement.namespace,
        name=unique,
        uid=run["metadata"]["uid"],
    )
    event = Event(reason="Stopped", message="once", at=datetime.now(UTC))
    for _ in range(2):
        request = RecordEvents(run=ref, events=[event])
        await ActivityEnvironment().run(EventActivities(hub).record_events, request)
    assert [each["reason"] for each in await events_of(hub, run)] == ["Initialized", "Stopped"]


async def test_an_event_that_the_hub_refuses_is_dropped(
    hub: Hub, scope: Scope, unique: str, caplog: pytest.LogCaptureFixture
) -> None:
    namespace = f"{unique}-missing" if scope.run.namespaced else ""
    ref = RunRef(scope_name=scope.name, namespace=namespace, name=unique, uid="u-1")
    about = EventSubject.of(ref)
    event = Event(reason="Stopped", message="", at=datetime.now(UTC))
    await write(hub, event.model_copy(update={"reason": "x" * 5000}), about)
    assert f"of {scope.run} {unique} dropped" in caplog.text


async def test_a_warning_explains_why_an_approval_for_another_generation_does_not_count(
    placement: HandPlacement, unique: str, hub_kubeconfig: Path
) -> None:
    request, warning = await approve_wrongly(placement, unique)
    assert warning["type"] == "Warning"
    why, _, remedy = warning["message"].partition(". To fix it: ")
    assert why == (
        "The approval does not count: its condition Approved has observedGeneration 7, "
        "but the generation of the request is 1"
    )
    typed, _, command = remedy.partition(" or: ")
    assert command == f"fleetgate approve {unique} one --before{flag(placement)}"

    assert await shell(hub_kubeconfig, typed) == 0
    await started(placement, f"{unique}-0")
    accepted = await placement.find_approval(request)
    assert accepted is not None
    assert says(accepted, "Approved")[1:] == ("testPassed", "lgtm")
    approvals = [text for reason, text in await told(placement, unique, "StageStarted")][-2:-1]
    assert approvals == ["The approval before stage one was given with kubectl-patch: lgtm"]


async def test_each_problem_with_an_approval_is_warned_about_once(
    placement: HandPlacement, unique: str
) -> None:
    request, _ = await approve_wrongly(placement, unique)
    found = await placement.find_approval(request)
    assert found is not None
    # Something else in the object changes, so the same approval is checked again.
    labels = {"metadata": {"labels": {"looked-at": "again"}}}
    kind, namespace = placement.scope.approval, placement.namespace
    await placement.hub.patch(kind, request, labels, namespace=namespace)
    await placement.approve(request, generation=8)
    warnings = await eventually(lambda: events_of(placement.hub, found), lambda seen: len(seen) > 1)
    whys = [each["message"].partition(", but")[0] for each in warnings]
    assert [why.split()[-1] for why in whys] == ["7", "8"]


async def approve_wrongly(placement: HandPlacement, unique: str) -> tuple[str, Json]:
    """Approve generation 7; return the request's name and the warning about it."""
    await prepare(placement, unique, {"name": "one", "beforeStageTasks": [APPROVAL]})
    await placement.create_run(unique, unique, index="0")
    request = f"{unique}-before-one"
    asked = await eventually(lambda: placement.find_approval(request), bool)
    assert asked is not None
    await placement.approve(request, generation=7)
    [warning] = await eventually(lambda: events_of(placement.hub, asked), bool)
    return request, warning


async def shell(kubeconfig: Path, command: str) -> int:
    """Run a shell command and return its exit code."""
    process = await asyncio.create_subprocess_shell(
        command, env=os.environ | {"KUBECONFIG": str(kubeconfig)}
    )
    return await process.wait()
