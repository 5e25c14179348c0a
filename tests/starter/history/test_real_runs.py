"""`fleetgate run history` of runs that a real engine drives."""

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.runs import UpdateRun
from hub import Json
from planning.runs import views
from tests.starter.typed import Fleetgate, Typed
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started

pytestmark = pytest.mark.usefixtures("engine")


@dataclass
class Rollout:
    """A placement whose runs are driven with commands."""

    placement: HandPlacement
    fleetgate: Fleetgate

    @property
    def name(self) -> str:
        """Name of the placement, the strategy and the run."""
        return self.placement.name

    async def type(self, *words: str) -> Typed:
        """Run a command in the run's scope."""
        flags = ["-n", self.placement.namespace] if self.placement.namespace else []
        return await self.fleetgate(*words, *flags)

    async def prepare(self) -> None:
        """Create the objects for a run of two stages, the second with approvals."""
        one, two = self.clusters
        await self.placement.create({one: {"env": "one"}, two: {"env": "two"}})
        await self.placement.strategy(
            self.name,
            [
                {"name": "one", "labelSelector": {"matchLabels": {"env": "one"}}},
                {
                    "name": "two",
                    "labelSelector": {"matchLabels": {"env": "two"}},
                    "beforeStageTasks": [{"type": "Approval"}],
                    "afterStageTasks": [{"type": "Approval"}],
                },
            ],
        )

    @property
    def clusters(self) -> tuple[str, str]:
        """Its clusters, in update order."""
        return f"{self.name}-a", f"{self.name}-b"

    async def run(self) -> None:
        """Take a run from its start to its end, with a stop and two kinds of approvals."""
        one, two = self.clusters
        await self.placement.create_run(self.name, self.name, index="0")
        await started(self.placement, one)
        wish = ("run", "stop", self.name, "--by", "alice", "--comment", "lunch")
        stopping = asyncio.create_task(self.typed(*wish))
        await reaches(self.placement, self.name, "UpdateRunStopping")
        await self.placement.report(one)
        await stopping
        await reaches(self.placement, self.name, "UpdateRunStopped")
        await self.placement.set_state(self.name, "Run")
        await self.asked("before")
        await self.placement.approve(f"{self.name}-before-two")
        await started(self.placement, two)
        await self.placement.report(two)
        await self.asked("after")
        await self.typed("approve", self.name, "--by", "bob", "--comment", "=looks(good)")
        await reaches(self.placement, self.name, "UpdateRunSucceeded", kind="Succeeded")

    async def asked(self, side: str) -> None:
        """Wait until the run shows the open approval on a side of its second stage."""
        request = f"{self.name}-{side}-two"
        await eventually(
            lambda: self.placement.read_run(self.name),
            lambda seen: any(
                gate.request == request
                for gate in views.of(UpdateRun.from_wire(seen)).gates.approvals
            ),
        )

    async def typed(self, *words: str) -> None:
        """Run a command that must succeed."""
        answer = await self.type(*words)
        assert answer.code == 0, answer.err

    async def history(self, *words: str) -> list[dict[str, str]]:
        """Return the run's history."""
        answer = await self.type("run", "history", self.name, "-o", "json", *words)
        assert answer.code == 0, answer.err
        found: list[dict[str, str]] = json.loads(answer.out)
        return found

    async def delete(self) -> str:
        """Delete the run, wait until it is gone, and return its uid."""
        look = self.placement
        run: Json = await look.read_run(self.name)
        await look.delete_run(self.name)
        kind = look.scope.run
        await eventually(
            lambda: look.hub.find(kind, self.name, namespace=look.namespace),
            lambda seen: seen is None,
        )
        uid: str = run["metadata"]["uid"]
        return uid


@pytest.fixture
async def rollout(placement: HandPlacement, fleetgate: Fleetgate) -> Rollout:
    made = Rollout(placement, fleetgate)
    await made.prepare()
    return made


@pytest.fixture
def nowhere(hub_kubeconfig: Path, tmp_path: Path) -> Path:
    """Kubeconfig of an unreachable hub."""
    text = re.sub(r"server: .*", "server: https://127.0.0.1:1", hub_kubeconfig.read_text())
    kubeconfig = tmp_path / "nowhere.kubeconfig"
    kubeconfig.write_text(text)
    return kubeconfig


def told(history: list[dict[str, str]], *fields: str) -> list[Any]:
    return [tuple(entry[field] for field in fields) for entry in history]


async def test_it_lists_who_did_what_from_beginning_to_end(rollout: Rollout) -> None:
    await rollout.run()
    history = await rollout.history()
    one, two = rollout.clusters
    assert told(history, "what", "side", "stage", "cluster", "who") == [
        ("created", "", "", "", "with fleetgate"),
        ("taken up", "", "", "", ""),
        ("planned", "", "", "", ""),
        ("stage started", "", "one", "", ""),
        ("cluster started", "", "one", one, ""),
        ("asked to stop", "", "", "", "admin on behalf of alice"),
        ("cluster done", "", "one", one, ""),
        ("stopped", "", "", "", ""),
        ("asked to run", "", "", "", ""),
        ("approval asked", "before", "two", "", ""),
        ("approved", "before", "two", "", ""),
        ("stage started", "", "two", "", ""),
        ("cluster started", "", "two", two, ""),
        ("cluster done", "", "two", two, ""),
        ("approval asked", "after", "two", "", ""),
        ("approved", "after", "two", "", "admin on behalf of bob"),
        ("succeeded", "", "", "", ""),
    ]
    comments = {(each["what"], each["side"]): each["comment"] for each in history}
    assert comments["asked to stop", ""] == "lunch"
    assert comments["asked to run", ""] == "spec.state was set on the object"
    assert comments["approved", "before"] == "lgtm"
    assert comments["approved", "after"] == "=looks(good)"
    assert [each["at"] for each in history] == sorted(each["at"] for each in history)


async def test_the_objects_alone_are_used_if_temporal_is_unreachable(
    rollout: Rollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    await rollout.run()
    whole = await rollout.history()
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    answer = await rollout.type("run", "history", rollout.name, "-o", "json")
    assert answer.code == 0, answer.err
    assert answer.err == "Temporal cannot be reached; the history is incomplete\n"
    without = json.loads(answer.out)
    wishes = {"taken up", "asked to run", "asked to stop"}
    expected = set(told(whole, "what", "side", "stage", "cluster"))
    expected = {each for each in expected if each[0] not in wishes} | {("resumed", "", "", "")}
    assert set(told(without, "what", "side", "stage", "cluster")) == expected
    by = {(each["what"], each["side"]): (each["who"], each["comment"]) for each in without}
    assert by["approved", "after"] == ("admin on behalf of bob", "=looks(good)")


async def test_temporal_alone_is_used_if_the_hub_is_unreachable(
    rollout: Rollout, nowhere: Path
) -> None:
    await rollout.run()
    whole = await rollout.history()
    flags = ("-o", "json", "--kubeconfig", str(nowhere))
    answer = await rollout.type("run", "history", rollout.name, *flags)
    assert answer.code == 0, answer.err
    assert json.loads(answer.out) == whole[1:], "everything except the creation of the object"
    assert answer.err.startswith("the hub cannot be reached: ")


async def test_a_deleted_run_still_has_a_history_in_temporal(rollout: Rollout) -> None:
    await rollout.run()
    whole = await rollout.history()
    uid = await rollout.delete()
    # Whether its deletion is listed depends on how soon after the end it came.
    expected = "everything except the object's creation"
    assert _but_deletion(await rollout.history()) == whole[1:], expected
    await rollout.placement.create_run(rollout.name, rollout.name, index="0", state="Initialize")
    await reaches(
        rollout.placement, rollout.name, "UpdateRunInitializedSuccessfully", kind="Initialized"
    )
    # The event comes a moment after the status that reports the same.
    answer = await eventually(
        lambda: rollout.type("run", "history", rollout.name),
        lambda typed: "Planned 2 clusters in 2 stages" in " ".join(typed.out.split()),
    )
    assert answer.code == 0, answer.err
    assert answer.err.startswith(f"other runs with this name, shown with --uid: {uid} of ")
    assert "succeeded" not in answer.out
    assert _but_deletion(await rollout.history("--uid", uid[:8])) == whole[1:]
    await rollout.delete()


def _but_deletion(history: list[dict[str, str]]) -> list[dict[str, str]]:
    return [each for each in history if each["what"] != "deleted"]


async def test_the_deletion_of_an_active_run_is_listed(rollout: Rollout) -> None:
    await rollout.placement.create_run(rollout.name, rollout.name, index="0")
    await started(rollout.placement, rollout.clusters[0])
    await rollout.delete()
    assert (await rollout.history())[-1]["what"] == "deleted"


async def test_an_unknown_run_is_not_found(rollout: Rollout) -> None:
    for words in ([], ["--uid", "0"]):
        answer = await rollout.type("run", "history", "nosuch", *words)
        assert answer.code == 3
        assert answer.err == "error: neither run nosuch nor a workflow for it was found\n"
    made = await rollout.placement.create_run(rollout.name, rollout.name, state="Initialize")
    answer = await rollout.type("run", "history", rollout.name, "--uid", "x")
    assert answer.code == 3
    assert answer.err == (
        f"error: no run named {rollout.name} has a uid that starts with x\n"
        f"  known uids: {made['metadata']['uid']}\n"
    )


async def test_a_comment_is_no_formula_in_a_spreadsheet(rollout: Rollout) -> None:
    await rollout.run()
    answer = await rollout.type("run", "history", rollout.name, "-o", "csv")
    assert answer.out.startswith("at,what,side,stage,cluster,who,comment\n")
    assert ",approved,after,two,,admin on behalf of bob,'=looks(good)\n" in answer.out
