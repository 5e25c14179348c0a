"""Argo CD's view of runs, approvals and placements, with objects recorded from a KubeFleet hub."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from lupa.lua51 import LuaRuntime

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, SCOPES, Kind, Scope
from deploy import argocd
from tests.support import conditions

Json = dict[str, Any]
CHECKS = {kind.kind: path.read_text() for kind, path in argocd.checks()}
MOMENTS = yaml.safe_load((Path(__file__).parent / "data" / "argocd-moments.yaml").read_text())

RUN, APPROVAL, PLACEMENT = (
    "ClusterStagedUpdateRun",
    "ClusterApprovalRequest",
    "ClusterResourcePlacement",
)
NS_RUN, NS_APPROVAL, NS_PLACEMENT = "StagedUpdateRun", "ApprovalRequest", "ResourcePlacement"


def health(body: Json) -> tuple[str, str]:
    """Status and message, evaluated like Argo CD does: Lua 5.1 without a string library."""
    lua = LuaRuntime()
    lua.execute("getmetatable('').__index = nil; string = nil; math = nil; io = nil; debug = nil")
    lua.globals().obj = lua.table_from(body, recursive=True)
    found = lua.execute(CHECKS[body["kind"]])
    return found["status"], found["message"]


def health_at(moment: str, kind: str, name: str) -> tuple[str, str]:
    (found,) = [
        each["object"]
        for each in MOMENTS
        if each["moment"].startswith(moment)
        and each["object"]["kind"] == kind
        and each["object"]["metadata"]["name"] == name
    ]
    return health(found)


@pytest.mark.parametrize(
    ("moment", "kind", "name", "status", "message"),
    [
        ("02", RUN, "missing-index", "Degraded", "no resourceSnapshots with index `1` found"),
        ("03", RUN, "example-run", "Suspended", "planned, not started: set spec.state to Run"),
        ("04", RUN, "example-run", "Progressing", "0 of 3 clusters are done"),
        ("05", RUN, "example-run", "Progressing", "waiting for after-stage tasks in stage staging"),
        ("06", RUN, "example-run", "Suspended", "waiting for approval: example-run-before-canary"),
        ("07", RUN, "example-run", "Suspended", "waiting for approval: example-run-after-canary"),
        ("08", RUN, "example-run", "Healthy", "All stages are completed successfully"),
        ("11", RUN, "example-run-2", "Suspended", "stopped, 1 of 3 clusters are done"),
        ("12", RUN, "example-run-2", "Progressing", "1 of 3 clusters are done"),
        ("16", RUN, "rollback", "Progressing", "0 of 3 clusters are done"),
        ("17", RUN, "rollback", "Degraded", "is not up-to-date with the desired status"),
        ("20", NS_RUN, "app-run", "Suspended", "waiting for approval: app-run-before-canary"),
        ("21", NS_RUN, "app-run", "Healthy", "All stages are completed successfully"),
        ("22", NS_RUN, "stuck-run", "Progressing", "0 of 3 clusters are done"),
        ("23", NS_RUN, "stuck-run", "Degraded", "stuck waiting for member2 cluster(s)"),
        ("24", NS_RUN, "stuck-run", "Degraded", "stuck waiting for member2 cluster(s)"),
        ("06", APPROVAL, "example-run-before-canary", "Suspended", "stage canary is waiting"),
        ("07", APPROVAL, "example-run-before-canary", "Healthy", "has been approved"),
        ("20", NS_APPROVAL, "app-run-before-canary", "Suspended", "stage canary is waiting"),
        ("21", NS_APPROVAL, "app-run-before-canary", "Healthy", "has been approved"),
        ("01", PLACEMENT, "example-placement", "Healthy", "clusters are picked"),
        ("04", PLACEMENT, "example-placement", "Healthy", "update runs roll out the changes"),
        ("07", PLACEMENT, "example-placement", "Healthy", "in 3 cluster(s) are available now"),
        ("19", NS_PLACEMENT, "web-app-placement", "Healthy", "clusters are picked"),
        ("21", NS_PLACEMENT, "web-app-placement", "Healthy", "in 3 cluster(s) are available now"),
    ],
)
def test_the_health_of_a_recorded_object_says_what_it_waits_for(
    moment: str, kind: str, name: str, status: str, message: str
) -> None:
    found = health_at(moment, kind, name)
    assert found[0] == status
    assert message in found[1]


def test_every_recorded_object_gets_a_health_status_of_argo_cd() -> None:
    for each in MOMENTS:
        status, message = health(each["object"])
        assert status in {"Healthy", "Progressing", "Suspended", "Degraded"}
        assert message


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=lambda scope: scope.name)
def scope(request: pytest.FixtureRequest) -> Scope:
    found: Scope = request.param
    return found


def condition(kind: str, status: str, reason: str = "Because", *, generation: int = 1) -> Json:
    message = f"{kind} says {status}"
    return conditions.condition(kind, status, generation, reason=reason, message=message)


def an_object(kind: Kind, *conditions: Json, generation: int = 1, **spec: Any) -> Json:
    status = {"conditions": list(conditions)} if conditions else {}
    meta = {"name": "example", "generation": generation}
    return {"kind": kind.kind, "metadata": meta, "spec": spec, "status": status}


PLANNED = condition("Initialized", "True")


@pytest.mark.parametrize(
    ("conditions", "generation", "status", "message"),
    [
        ([], 1, "Progressing", "waiting for a worker to plan the run"),
        (
            [PLANNED],
            2,
            "Progressing",
            "waiting for a worker to process the latest change of the spec",
        ),
        (
            [PLANNED, condition("Progressing", "True", "UpdateRunStopping")],
            1,
            "Progressing",
            "stopping once the clusters in flight are done, 0 of 0 clusters are done",
        ),
        # A finished run is not processed again, so its conditions keep their generation.
        ([PLANNED, condition("Succeeded", "True")], 2, "Healthy", "Succeeded says True"),
        ([PLANNED, condition("Succeeded", "False")], 2, "Degraded", "Succeeded says False"),
        ([condition("Initialized", "False")], 2, "Degraded", "Initialized says False"),
    ],
)
def test_the_health_of_a_run_is_based_on_its_current_spec(
    scope: Scope, conditions: list[Json], generation: int, status: str, message: str
) -> None:
    run = an_object(scope.run, *conditions, generation=generation)
    assert health(run) == (status, message)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("UpdateRunPaused", "Degraded"),
        ("UpdateRunRollingBack", "Degraded"),
        ("UpdateRunQueued", "Progressing"),
        ("UpdateRunSuperseded", "Progressing"),
    ],
)
def test_the_health_of_a_run_is_what_its_rollout_policy_made_of_it(
    scope: Scope, reason: str, status: str
) -> None:
    held = condition("Progressing", "False", reason)
    assert health(an_object(scope.run, PLANNED, held)) == (status, "Progressing says False")


def test_a_run_without_a_status_is_progressing(scope: Scope) -> None:
    run = an_object(scope.run)
    del run["status"]
    assert health(run)[0] == "Progressing"


@pytest.mark.parametrize(
    ("approved", "status", "message"),
    [
        ([], "Suspended", "stage prod is waiting for approval"),
        ([condition("Approved", "False")], "Suspended", "stage prod is waiting for approval"),
        (
            [condition("Approved", "True", generation=0)],
            "Degraded",
            "the approval is ignored: its observedGeneration must be 1",
        ),
        ([condition("Approved", "True")], "Progressing", "approved, waiting for a worker"),
        (
            [condition("Approved", "False"), condition("ApprovalAccepted", "True")],
            "Healthy",
            "ApprovalAccepted says True",
        ),
    ],
)
def test_the_health_of_an_approval_says_whether_it_is_accepted(
    scope: Scope, approved: list[Json], status: str, message: str
) -> None:
    request = an_object(scope.approval, *approved, targetStage="prod")
    assert health(request) == (status, message)


CHAIN = ("Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")
REPORTING = (*CHAIN[:4], "DiffReported")


def placed(scope: Scope, *chain: str, rollout: str, apply: str = "", **statuses: str) -> Json:
    conditions = [
        condition(f"{scope.placement.kind}{name}", statuses.get(name, "True")) for name in chain
    ]
    strategy = {"type": rollout} | ({"applyStrategy": {"type": apply}} if apply else {})
    return an_object(scope.placement, *conditions, strategy=strategy)


@pytest.mark.parametrize("rollout", ["External", "RollingUpdate"])
@pytest.mark.parametrize(
    ("chain", "apply", "statuses", "health_of"),
    [
        ((), "", {}, "Progressing"),
        (CHAIN[:1], "", {"Scheduled": "Unknown"}, "Progressing"),
        (CHAIN[:1], "", {"Scheduled": "False"}, "Degraded"),
        (CHAIN[:3], "", {"Overridden": "False"}, "Degraded"),
        (CHAIN[:4], "", {"WorkSynchronized": "False"}, "Progressing"),
        (CHAIN[:5], "", {"Applied": "False"}, "Degraded"),
        (CHAIN, "", {"Available": "False"}, "Progressing"),
        (CHAIN, "", {"Available": "Unknown"}, "Progressing"),
        (CHAIN, "ServerSideApply", {}, "Healthy"),
        (CHAIN, "", {}, "Healthy"),
        (REPORTING, "ReportDiff", {"DiffReported": "False"}, "Progressing"),
        (REPORTING, "ReportDiff", {}, "Healthy"),
        ((*CHAIN, "StatusSynced"), "", {"StatusSynced": "False"}, "Degraded"),
    ],
)
def test_the_health_of_a_placement_is_based_on_its_conditions(
    scope: Scope,
    rollout: str,
    chain: tuple[str, ...],
    apply: str,
    statuses: dict[str, str],
    health_of: str,
) -> None:
    found = placed(scope, *chain, rollout=rollout, apply=apply, **statuses)
    assert health(found)[0] == health_of


@pytest.mark.parametrize(
    ("rollout", "health_of"), [("External", "Healthy"), ("RollingUpdate", "Progressing")]
)
@pytest.mark.parametrize("started", ["Unknown", "False"])
def test_only_a_placement_without_external_strategy_must_have_started_its_rollout(
    scope: Scope, rollout: str, health_of: str, started: str
) -> None:
    found = placed(scope, *CHAIN[:2], rollout=rollout, RolloutStarted=started)
    assert health(found)[0] == health_of


def test_conditions_of_an_older_generation_of_a_placement_are_ignored(scope: Scope) -> None:
    found = placed(scope, *CHAIN, rollout="RollingUpdate")
    assert health(found)[0] == "Healthy"
    found["metadata"]["generation"] = 2
    assert health(found)[0] == "Progressing"


def test_the_config_map_holds_each_check_unchanged() -> None:
    written = argocd.SETTINGS.read_text()
    assert written == argocd.settings(), "regenerate it: python -m deploy.argocd"
    held = yaml.safe_load(written)["data"]
    prefix = "resource.customizations.health.placement.kubernetes-fleet.io_"
    assert held == {f"{prefix}{kind}": check for kind, check in CHECKS.items()}
    assert len(CHECKS) == 3 * len(SCOPES)
