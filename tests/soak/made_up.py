"""Simulated histories of one run, step by step, as a hub would have recorded them."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

from hub import Json
from tests.soak import statuses
from tests.soak.history import Address, Write
from tests.soak.orders import End, Order, StageOrder
from tests.soak.trails import Case
from tests.support.conditions import condition

Step = tuple[str, ...]

ORDER = Order(
    run="run",
    image="example/app:v2",
    stages=(
        StageOrder(name="one", at_once=1, before=True, wait=timedelta(seconds=3)),
        StageOrder(name="two", at_once=2, after=True),
        StageOrder(name="three", at_once=1),
    ),
)
STAGES = {"one": ("a", "b"), "two": ("c", "d", "e"), "three": ("f",)}
BEFORE_ONE, AFTER_TWO = "run-before-one", "run-after-two"

STORY: list[Step] = [
    ("plan",),
    ("ask", BEFORE_ONE),
    ("approve", BEFORE_ONE),
    ("accept", BEFORE_ONE),
    ("begin", "a"),
    ("finish", "a"),
    ("begin", "b"),
    ("finish", "b"),
    ("wait", "3"),
    ("waited", "one"),
    ("stage done", "one"),
    ("begin", "c"),
    ("begin", "d"),
    ("finish", "c"),
    ("begin", "e"),
    ("finish", "d"),
    ("finish", "e"),
    ("ask", AFTER_TWO),
    ("approve", AFTER_TWO),
    ("accept", AFTER_TWO),
    ("stage done", "two"),
    ("begin", "f"),
    ("finish", "f"),
    ("stage done", "three"),
    ("stage done", "kubernetes-fleet.io/deleteStage"),
    ("done",),
]
"""A run that does everything right."""


def told(story: list[Step], *, end: End = End.SUCCESS) -> Case:
    """Return the case of a story."""
    teller = Teller()
    for verb, *words in story:
        getattr(teller, verb.replace(" ", "_"))(*words)
    order = Order(**{**vars(ORDER), "end": end})
    return Case(
        order=order,
        stages=STAGES,
        run=teller.of("clusterstagedupdateruns", "run"),
        bindings={c: teller.of("clusterresourcebindings", c) for c in teller.bindings},
        approvals={
            each: teller.of("clusterapprovalrequests", each) for each in (BEFORE_ONE, AFTER_TWO)
        },
        approved=frozenset(each[1] for each in story if each[0] == "approve"),
        images=dict.fromkeys(teller.bindings, teller.image),
    )


class Teller:
    """Makes the writes for the steps of a story."""

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self.image = ORDER.image
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        self._run = _run()
        self._approvals: dict[str, Json] = {}
        self.bindings = {each: _binding(each) for stage in STAGES.values() for each in stage}
        for name, body in self.bindings.items():
            self._write("clusterresourcebindings", name, body)
        self._write_run()

    def of(self, resource: str, name: str) -> list[Write]:
        return [each for each in self.writes if each.address == (resource, "", name)]

    # -- steps of a correct run ------------------------------------------------------------

    def plan(self) -> None:
        status = self._run["status"]
        status["resourceSnapshotIndexUsed"] = "2"
        status["stagesStatus"] = [_stage(each.name, each) for each in ORDER.stages]
        status["deletionStageStatus"] = _stage("kubernetes-fleet.io/deleteStage")
        self._say(status, "Initialized", "True", "UpdateRunInitializedSuccessfully")
        self._say(status, "Progressing", "True", "UpdateRunProgressing")
        self._write_run()

    def ask(self, request: str) -> None:
        self._approvals[request] = {
            "metadata": {"name": request, "uid": f"uid-{len(self.writes)}", "generation": 1},
            "status": {"conditions": []},
        }
        self._write_approval(request)
        self._say_task(request, "ApprovalRequestCreated", "StageTaskApprovalRequestCreated")

    def approve(self, request: str) -> None:
        self._say(self._approvals[request]["status"], "Approved", "True", "ok")
        self._write_approval(request)

    def accept(self, request: str) -> None:
        status = self._approvals[request]["status"]
        self._say(status, "ApprovalAccepted", "True", "ApprovalRequestApprovalAccepted")
        self._write_approval(request)
        self._say_task(request, "ApprovalRequestApproved", "StageTaskApprovalRequestApproved")

    def begin(self, cluster: str) -> None:
        binding = self.bindings[cluster]
        generation = binding["metadata"]["generation"] + 1
        self._say(binding["status"], "RolloutStarted", "True", "RolloutStarted", generation)
        binding["status"]["conditions"][-1]["message"] = "resourceSnapshotIndex: , updateRun: run"
        self._write("clusterresourcebindings", cluster, binding)
        self.spec(cluster, "2")
        self._say_cluster(cluster, "Started", "True", "ClusterUpdatingStarted")

    def finish(self, cluster: str) -> None:
        binding = self.bindings[cluster]
        generation = binding["metadata"]["generation"]
        self._say(binding["status"], "Available", "True", "AllWorkAreAvailable", generation)
        self._write("clusterresourcebindings", cluster, binding)
        self._say_cluster(cluster, "Succeeded", "True", "ClusterUpdatingSucceeded")

    def wait(self, seconds: str) -> None:
        self._now += timedelta(seconds=int(seconds))

    def waited(self, stage: str) -> None:
        self._say(
            self._part("task", stage, "after", "TimedWait"),
            "WaitTimeElapsed",
            "True",
            "AfterStageTaskWaitTimeElapsed",
        )
        self._write_run()

    def stage_done(self, stage: str) -> None:
        part = self._part("stage", stage)
        self._say(part, "Progressing", "False", "StageUpdatingSucceeded")
        self._say(part, "Succeeded", "True", "StageUpdatingSucceeded")
        self._write_run()

    def done(self) -> None:
        self._say(self._run["status"], "Progressing", "False", "UpdateRunSucceeded")
        self._say(self._run["status"], "Succeeded", "True", "UpdateRunSucceeded")
        self._write_run()

    def stop(self) -> None:
        self._run["spec"]["state"] = "Stop"
        self._write_run()

    def stopped(self) -> None:
        self._say(self._run["status"], "Progressing", "False", "UpdateRunStopped")
        self._write_run()

    def go(self) -> None:
        self._run["spec"]["state"] = "Run"
        self._write_run()

    def fail(self, text: str) -> None:
        self._say(self._run["status"], "Succeeded", "False", "UpdateRunFailed")
        self._run["status"]["conditions"][-1]["message"] = text
        self._write_run()

    def remove(self) -> None:
        self._append("clusterstagedupdateruns", "run", None)

    # -- steps that must not happen --------------------------------------------------------

    def spec(self, cluster: str, index: str) -> None:
        """Write a binding's content."""
        binding = self.bindings[cluster]
        name = f"placement-{index}-snapshot"
        if binding["spec"]["resourceSnapshotName"] != name:
            binding["metadata"]["generation"] += 1
        binding["spec"] |= {"resourceSnapshotName": name, "state": "Bound"}
        self._write("clusterresourcebindings", cluster, binding)

    def withdraw(self, request: str) -> None:
        """Withdraw an approval."""
        self._approvals[request]["status"]["conditions"] = []
        self._write_approval(request)

    def lose(self, request: str) -> None:
        """Remove an approval request."""
        self._append("clusterapprovalrequests", request, None)

    def unsay(self, cluster: str, kind: str) -> None:
        """Remove a condition of a cluster."""
        part = statuses.cluster(self._run, cluster)
        part["conditions"] = [each for each in part["conditions"] if each["type"] != kind]
        self._write_run()

    def say(self, cluster: str, kind: str, status: str, reason: str) -> None:
        """Set another condition of a cluster."""
        self._say_cluster(cluster, kind, status, reason)

    def reorder(self) -> None:
        """Change the plan."""
        self._run["status"]["stagesStatus"][1]["clusters"].reverse()
        self._write_run()

    def send(self, image: str) -> None:
        """Put another image on the members."""
        self.image = image

    # -- writing ---------------------------------------------------------------------------

    def _part(self, *path: str) -> Json:
        return dict(statuses.parts(self._run))[path]

    def _say_cluster(self, cluster: str, kind: str, status: str, reason: str) -> None:
        self._say(statuses.cluster(self._run, cluster), kind, status, reason)
        self._write_run()

    def _say_task(self, request: str, kind: str, reason: str) -> None:
        _, side, stage = request.split("-")
        self._say(self._part("task", stage, side, "Approval"), kind, "True", reason)
        self._write_run()

    def _say(self, part: Json, kind: str, status: str, reason: str, generation: int = 1) -> None:
        others = [each for each in part.get("conditions", []) if each["type"] != kind]
        said = condition(kind, status, generation, reason=reason, at=self._now)
        part["conditions"] = [*others, said]

    def _write_run(self) -> None:
        self._write("clusterstagedupdateruns", "run", self._run)

    def _write_approval(self, request: str) -> None:
        self._write("clusterapprovalrequests", request, self._approvals[request])

    def _write(self, resource: str, name: str, body: Json) -> None:
        self._append(resource, name, deepcopy(body))

    def _append(self, resource: str, name: str, body: Json | None) -> None:
        self._now += timedelta(milliseconds=10)
        address: Address = (resource, "", name)
        revision = len(self.writes) + 1
        self.writes.append(
            Write(address=address, revision=revision, body=body, agent="test", at=self._now)
        )


def _run() -> Json:
    return {
        "metadata": {"name": "run", "generation": 1},
        "spec": {"placementName": "placement", "state": "Run"},
        "status": {},
    }


def _stage(name: str, order: StageOrder | None = None) -> Json:
    stage: dict[str, Any] = {"stageName": name, "clusters": []}
    if order is not None:
        stage["clusters"] = [{"clusterName": each} for each in STAGES[name]]
        before = [{"type": "Approval"}] if order.before else []
        after = [{"type": "Approval"}] if order.after else []
        after += [{"type": "TimedWait"}] if order.wait else []
        stage |= {"beforeStageTaskStatus": before, "afterStageTaskStatus": after}
    return stage


def _binding(cluster: str) -> Json:
    return {
        "metadata": {"name": cluster, "generation": 2},
        "spec": {"resourceSnapshotName": "placement-1-snapshot", "targetCluster": cluster},
        "status": {"conditions": []},
    }
