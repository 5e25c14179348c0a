"""Runs whose clusters fail: a budget pauses them, and people decide what becomes of the clusters.

The policies of this module allow a cluster two seconds, and no failure unless they say otherwise.
"""

import json
from typing import Any

import pytest

from api.kinds import EVENT
from hub import Hub, Json
from planning.events import CLUSTER_NAMESPACE
from starter.failures import ExitCode
from tests.starter.driven.rollouts import Rollout
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.workflows.runs import started

FIVE = tuple("abcde")
TIMEOUT = {"clusters": {"timeout": "2s"}}


class FailingRollout:
    """A run over five clusters, three at a time, with a policy that limits their time."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self.placement = rollout.placement
        self.name = rollout.name
        self.clusters = [f"{self.name}-{each}" for each in FIVE]
        self.type = rollout.type
        self.flags = rollout.flags

    async def create(self, **policy: Any) -> None:
        """Create everything but the run; `policy` changes the policy's spec."""
        await self.placement.create({each: {"env": self.name} for each in self.clusters})
        stage = self._rollout.stage("one", maxConcurrency=3)
        await self.placement.strategy(self.name, [stage])
        await self.policy(self.name, **(TIMEOUT | policy))

    async def policy(self, name: str, **spec: Any) -> None:
        """Create a policy for the strategy."""
        target = {"kind": self.placement.scope.strategy.kind, "name": self.name}
        kind = self.placement.scope.policy
        await self.placement.write(kind, name, {"spec": {"targetRefs": [target]} | spec})

    async def run(self) -> None:
        """Create the run."""
        await self.placement.create_run(self.name, self.name, index="0")

    async def until_paused(self) -> str:
        """Wait until the run is paused; return the message that says why."""
        found = await self._rollout.reaches("UpdateRunPaused")
        return says(found, "Progressing")[2]

    async def read(self) -> Json:
        """Return the run."""
        return await self.placement.read_run(self.name)

    async def report(self) -> Json:
        """Return the status of the run's report."""
        status: Json = (await self._find(self.placement.scope.report, self.name))["status"]
        return status

    async def _find(self, kind: Any, name: str) -> Json:
        return await self.placement.hub.get(kind, name, namespace=self.placement.namespace)

    async def answer_at_once(self, *clusters: str) -> None:
        """Play members that need no time: what the hand-out will make is available already."""
        for cluster in clusters:
            generation = (await self.placement.read_binding(cluster))["metadata"]["generation"]
            await self.placement.report(cluster, generation=generation + 1)

    async def asked_again(self, argo: Hub) -> None:
        """Apply the run as it is in Git, as a GitOps controller does to heal what has changed."""
        spec = self.placement.run_spec(self.name, index="0", state="Run")
        body = self.placement.body({"spec": spec})
        await argo.apply(self.placement.scope.run, body, manager="argocd-controller", force=True)

    async def succeeded(self) -> str:
        """Wait until the run has succeeded; return its message."""
        found = await self._rollout.reaches("UpdateRunSucceeded", kind="Succeeded")
        return says(found, "Succeeded")[2]

    async def decide(self, name: str, *, run: str = "", **spec: Any) -> Json:
        """Create a decision as with kubectl, and return its status once it has one."""
        kind = self.placement.scope.decision
        body = {"run": run or self.name, "reason": "INC-7"} | spec
        await self.placement.write(kind, name, {"spec": body})
        found = await eventually(
            lambda: self._find(kind, name), lambda seen: seen.get("status", {}).get("state")
        )
        status: Json = found["status"]
        return status

    async def told(self) -> list[str]:
        """Return the reasons of the run's events, oldest first."""
        namespace = self.placement.namespace or CLUSTER_NAMESPACE
        fields = f"involvedObject.name={self.name}"
        found = (await self.placement.hub.list(EVENT, namespace=namespace, fields=fields)).items
        return [each["reason"] for each in sorted(found, key=lambda each: each["eventTime"])]


@pytest.fixture
def failing(rollout: Rollout) -> FailingRollout:
    return FailingRollout(rollout)


def ok(typed: Any) -> str:
    """Return what a command printed, which must have succeeded."""
    assert typed.code == 0, typed.out + typed.err
    printed: str = typed.out
    return printed


# -- the story -----------------------------------------------------------------------------


@pytest.mark.both_scopes
async def test_a_paused_run_goes_on_once_people_have_skipped_retried_and_continued(
    failing: FailingRollout,
) -> None:
    a, b, c, d, e = failing.clusters
    await failing.create(failures={"most": "10%"})
    await failing.run()
    await failing.until_paused()
    ok(await failing.type("run", "skip", failing.name, a, b, "--reason", "nodes are replaced"))
    ok(await failing.type("run", "retry", failing.name, c, "--reason", "quota raised"))
    await failing.placement.report(c)
    await failing.until_paused()
    await failing.answer_at_once(d, e)
    ok(await failing.type("run", "start", failing.name, "--comment", "go on", "--no-wait"))
    assert await failing.succeeded() == (
        "All stages are completed; 2 clusters were skipped, see "
        f"{failing.placement.scope.report.kind} {failing.name}"
    )
    report = await eventually(failing.report, lambda seen: len(seen["clusters"]) == 3)
    assert [(each["name"], each["outcome"], each.get("by", "")) for each in report["clusters"]] == [
        (a, "Skipped", "admin"),
        (b, "Skipped", "admin"),
        (c, "Recovered", "admin"),
    ]

    history = json.loads(ok(await failing.type("run", "history", failing.name, "-o", "json")))
    late = "The cluster was not updated within 2s"
    told = [(each["what"], each["cluster"], each["who"], each["comment"]) for each in history]
    decided = ("cluster skipped", "cluster retried", "continued", "paused", "cluster timed out")
    story = [each for each in told if each[0] in (*decided, "cluster recovered")]
    assert story[:3] == [("cluster timed out", each, "", late) for each in (a, b, c)]
    assert story[3][0] == "paused"
    assert story[3][3] == (
        f"3 of the 5 clusters of stage one failed and rollout policy {failing.name} allows 0 "
        f"(failures.most): {a}, {b}, {c}"
    )
    assert story[4:7] == [
        ("cluster skipped", a, "admin", "nodes are replaced"),
        ("cluster skipped", b, "admin", "nodes are replaced"),
        ("cluster retried", c, "admin", "quota raised"),
    ]
    assert story[-1] == ("continued", "", "admin", "go on")
    assert told[-1][0] == "succeeded"
    assert all(each["stage"] == "one" for each in history if each["cluster"])


async def test_a_gitops_controller_neither_resumes_nor_fights_a_paused_run(
    failing: FailingRollout, hub: Hub
) -> None:
    await failing.create()
    await failing.run()
    await failing.asked_again(hub)
    await failing.until_paused()
    before = await failing.read()
    for _ in range(20):
        await failing.asked_again(hub)
    after = await failing.read()
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert says(after, "Progressing")[1] == "UpdateRunPaused"
    assert after["status"] == before["status"]
    assert after["spec"]["state"] == "Run"
    told = await failing.told()
    assert told.count("Paused") == 1
    assert "Resumed" not in told
    bindings = [await failing.placement.read_binding(each) for each in failing.clusters[3:]]
    assert [each["spec"]["state"] for each in bindings] == ["Scheduled", "Scheduled"]

    await failing.answer_at_once(*failing.clusters[3:])
    answer = await failing.decide(f"{failing.name}-go-on", decision="Continue")
    assert answer["state"] == "Counted"
    await failing.asked_again(hub)
    assert "3 clusters failed" in await failing.succeeded()


# -- decisions -----------------------------------------------------------------------------


async def test_decisions_that_make_no_sense_are_refused_in_words(failing: FailingRollout) -> None:
    name, (a, b, *_) = failing.name, failing.clusters
    await failing.create()
    await failing.run()
    skip = {"decision": "SkipCluster"}

    async def refused(number: str, **spec: Any) -> str:
        answer = await failing.decide(f"{name}-{number}", **spec)
        assert answer["state"] == "Refused"
        message: str = answer["message"]
        return message

    await started(failing.placement, a)
    uid = (await failing.read())["metadata"]["uid"]
    assert await refused("1", run="nosuch", cluster=a, **skip) == "there is no run nosuch"
    text = f"run {name} is another one: its UID is {uid}"
    assert await refused("2", runUID="of-an-older-one", cluster=a, **skip) == text
    text = f"cluster nosuch is not in run {name}"
    assert await refused("3", cluster="nosuch", **skip) == text
    await failing.until_paused()
    await failing.decide(f"{name}-skip", cluster=b, **skip)
    assert await refused("4", cluster=b, **skip) == f"cluster {b} was skipped already"
    await failing.placement.set_state(name, "Stop")
    await failing.decide(f"{name}-go-on", decision="Continue")
    await failing.answer_at_once(*failing.clusters[3:])
    await failing.placement.set_state(name, "Run")
    await failing.succeeded()
    over = f"run {name} has ended"
    assert (await refused("5", decision="Continue")).startswith(over)

    history = json.loads(ok(await failing.type("run", "history", name, "-o", "json")))
    refusals = [each["comment"] for each in history if each["what"] == "decision refused"]
    assert [each.partition(":")[0] for each in refusals] == [
        "SkipCluster",
        "SkipCluster",
        "Continue",
    ]
    assert over in refusals[-1]


# -- policies ------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["deleted", "edited"])
async def test_a_policy_that_changes_during_the_run_has_no_effect_on_it(
    failing: FailingRollout, hub: Hub, change: str
) -> None:
    await failing.create(failures={"most": 2})
    await failing.run()
    await started(failing.placement, failing.clusters[0])
    kind, namespace = failing.placement.scope.policy, failing.placement.namespace
    if change == "deleted":
        await hub.delete(kind, failing.name, namespace=namespace)
    else:
        spec = {"clusters": {"timeout": "1h"}, "failures": {"most": "100%", "action": "Abort"}}
        await hub.patch(kind, failing.name, {"spec": spec}, namespace=namespace)
    message = await failing.until_paused()
    assert f"rollout policy {failing.name} allows 2 (failures.most)" in message


async def test_policies_that_contradict_each_other_are_named_when_the_run_is_planned(
    failing: FailingRollout,
) -> None:
    name = failing.name
    await failing.create()
    await failing.policy(f"{name}-2", clusters={"timeout": "1h"})
    await failing.run()
    run = await eventually(failing.read, lambda seen: says(seen, "Initialized")[1])
    assert says(run, "Initialized")[1] == "UpdateRunInitializedFailed"
    text = (
        f"rollout policies `{name}` and `{name}-2` contradict each other: clusters.timeout is 2s "
        "in the one and 1h in the other"
    )
    assert text in says(run, "Initialized")[2]
    shown = await failing.type("policy", "show", name)
    assert shown.code == 1
    assert text in shown.err


async def test_a_stage_that_the_strategy_lacks_is_named_when_the_run_is_planned(
    failing: FailingRollout,
) -> None:
    name = failing.name
    await failing.create()
    target = {"kind": failing.placement.scope.strategy.kind, "name": name, "stages": ["prod"]}
    await failing.policy(f"{name}-2", targetRefs=[target], clusters={"timeout": "1h"})
    await failing.run()
    run = await eventually(failing.read, lambda seen: says(seen, "Initialized")[1])
    assert says(run, "Initialized")[2].endswith(
        f"rollout policy `{name}-2` names stage `prod`, which strategy `{name}` does not have; its "
        "stages are one"
    )


# -- what commands show --------------------------------------------------------------------


async def test_commands_show_why_a_run_is_paused_and_what_to_type(
    failing: FailingRollout,
) -> None:
    name, (a, b, c, *_), flags = failing.name, failing.clusters, failing.flags
    await failing.create()
    await failing.run()
    await failing.until_paused()
    shown = ok(await failing.type("run", "show", name))
    assert f"paused by its rollout policy: {a}, {b}, {c} failed in stage one" in shown
    assert "0/5, 3 failed" in shown
    commands = [
        " ".join(["fleetgate run retry", name, a, b, c, *flags, "--reason REASON"]),
        " ".join(["fleetgate run skip", name, a, b, c, *flags, "--reason REASON"]),
        " ".join(["fleetgate run start", name, *flags]),
    ]
    assert [each.strip() for each in shown.splitlines()][-3:] == commands

    explained = json.loads(ok(await failing.type("run", "explain", name, "-o", "json")))
    assert explained["phase"] == "paused"
    assert explained["attention"] == "person"
    assert (explained["clustersFailed"], explained["clustersSkipped"]) == (3, 0)
    assert explained["message"].startswith("The update run is paused because 3 of the 5 clusters")
    assert explained["commands"][-3:] == commands
    assert [(each["name"], each["failed"]) for each in explained["clusters"]] == [
        (a, True),
        (b, True),
        (c, True),
    ]
    assert "by hand" not in json.dumps(explained), "it is not taken for one that another run took"

    watched = await failing.type("run", "watch", name, "--until", "gate")
    assert watched.code == ExitCode.STUCK
    assert watched.out.splitlines()[-1].startswith(f"run {name}: paused by its rollout policy")

    ok(await failing.type("run", "skip", name, a, b, c, "--reason", "INC-7"))
    skipped = await eventually(
        lambda: failing.type("run", "show", name), lambda typed: "3 skipped" in typed.out
    )
    assert "paused by its rollout policy until someone continues it in stage one" in skipped.out
    explained = json.loads(ok(await failing.type("run", "explain", name, "-o", "json")))
    assert explained["actor"].startswith("Nothing counts as failed any more.")
    assert explained["commands"][-1:] == commands[-1:]
