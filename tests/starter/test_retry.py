"""`fleetgate run retry` of runs that have ended, against a real hub."""

from collections.abc import AsyncIterator

import pytest

from hub import Hub, Json
from tests.starter.runs import RunOnHub

WHY = ("--reason", "INC-7")


@pytest.fixture
async def over(run: RunOnHub) -> AsyncIterator[RunOnHub]:
    """A run that another one ended before it had updated all of its clusters."""
    await run.create("preempted")
    yield run
    for ending in ("-retry", "-retry-2"):
        if await found(run, ending):
            await run.hub.delete(run.scope.run, run.name + ending, namespace=run.namespace)


async def found(run: RunOnHub, ending: str) -> Json | None:
    return await run.hub.find(run.scope.run, run.name + ending, namespace=run.namespace)


async def test_an_ended_run_is_retried_by_a_new_one_of_its_version(
    over: RunOnHub, hub: Hub
) -> None:
    typed = await over.type("run", "retry", over.name, "--failed", *WHY)
    assert typed.code == 0, typed.err
    old, new = await over.read(), await found(over, "-retry")
    assert new is not None
    index = old["status"]["resourceSnapshotIndexUsed"]
    assert new["spec"] == old["spec"] | {"resourceSnapshotIndex": index, "state": "Run"}
    assert "INC-7" in new["metadata"]["annotations"].values()
    watch = " ".join(["fleetgate run watch", f"{over.name}-retry", *over.flags])
    assert watch in typed.out
    assert f"rolls out its version, snapshot {index}, again" in typed.out


async def test_a_second_retry_waits_for_the_first_to_end(over: RunOnHub) -> None:
    await over.type("run", "retry", over.name, "--failed", *WHY)
    typed = await over.type("run", "retry", over.name, "--failed", *WHY)
    assert typed.code == 1
    assert f"run {over.name}-retry does that already" in typed.err
    assert await found(over, "-retry-2") is None


async def test_only_what_is_not_updated_is_retried(over: RunOnHub) -> None:
    status = (await over.read())["status"]
    updated = status["stagesStatus"][0]["clusters"][0]
    updated["conditions"] = [
        each | {"status": "True", "reason": "ClusterUpdatingSucceeded"}
        for each in updated["conditions"]
    ]
    await over.say(status)
    for name, text in (
        (updated["clusterName"], f"cluster {updated['clusterName']} is updated already"),
        ("nowhere", f"cluster nowhere is not in run {over.name}"),
    ):
        typed = await over.type("run", "retry", over.name, name, *WHY)
        assert (typed.code, typed.err) == (1, f"error: {text}\n")


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("succeeded", "has updated all of its clusters"),
        ("initialization-failed", "could not be planned, so there is nothing to do again"),
    ],
)
async def test_there_may_be_nothing_to_retry(run: RunOnHub, moment: str, text: str) -> None:
    await run.create(moment)
    typed = await run.type("run", "retry", run.name, "--failed", *WHY)
    assert typed.code == 1
    assert text in typed.err
