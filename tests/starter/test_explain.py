"""`fleetgate run explain` against a real hub, with objects as the engine and members write them."""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from api.approvals import BaseApprovalRequest
from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Kind
from api.runs import UpdateRun
from hub import Hub
from planning.runs import approvals, views
from starter.explain.collecting import Collector
from tests.agent.credentials import kubeconfig_of_nobody
from tests.starter.on_call import Incident, condition
from tests.starter.runs import recorded
from tests.starter.typed import Fleetgate

BEGUN = (
    condition("Overridden", "True", "NoOverrideSpecified"),
    condition("WorkSynchronized", "True", "AllWorkSynced"),
)
APPLIED = condition("Applied", "True", "AllWorkHaveBeenApplied")
NOT_AVAILABLE = condition(
    "Available", "False", "NotAllWorkAreAvailable", "Work object web-work is not yet available"
)
NOT_YET = condition(
    "Available",
    "False",
    "ManifestNotAvailableYet",
    "Manifest is not yet available; Fleet will check again later",
)
DEPLOYMENT = {
    "group": "apps",
    "version": "v1",
    "kind": "Deployment",
    "name": "web-app",
    "namespace": "my-app",
}
FAILED = [DEPLOYMENT | {"condition": NOT_YET}]


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
async def incident(
    request: pytest.FixtureRequest, hub: Hub, fleetgate: Fleetgate, unique: str
) -> AsyncIterator[Incident]:
    """A run that does not exist yet."""
    made = Incident(hub, request.param, unique, fleetgate)
    yield made
    await made.placement.delete_run(unique)


async def test_a_stuck_run_names_the_cluster_and_its_error(incident: Incident) -> None:
    await incident.happen("stuck")
    await incident.bind(2, *BEGUN, APPLIED, NOT_AVAILABLE, failedPlacements=FAILED)
    typed = await incident.explain()
    assert typed.code == 0, typed.err
    told = " ".join(typed.out.split())
    cluster = incident.cluster(2)
    assert f"Stuck: {cluster} in stage staging (1 of 2), in flight for " in told
    assert "Someone has to fix the problem there" in told
    assert f"{cluster} stuck, Available is False" in told
    assert "Deployment my-app/web-app: Manifest is not yet available" in told
    assert "cannot pull their image" in told
    assert "Then stage canary:" in told
    assert (
        f"  kubectl --context <context of {cluster}> describe deployment web-app -n my-app\n"
        in typed.out
    )
    assert f"  fleetgate rollback {incident.name}{incident.flag}\n" in typed.out
    above, _, _ = typed.out.partition("Next:")
    assert max(len(line) for line in above.splitlines()) <= 100
    assert len(typed.out.splitlines()) <= 24
    assert "\x1b" not in typed.out


async def test_without_a_list_in_the_binding_the_work_is_used(incident: Incident) -> None:
    await incident.happen("stuck")
    binding = await incident.bind(2, *BEGUN, APPLIED, NOT_AVAILABLE)
    identifier = DEPLOYMENT | {"ordinal": 0, "resource": "deployments"}
    entry = {"identifier": identifier, "conditions": [NOT_YET]}
    await incident.work(2, binding, {"conditions": [], "manifestConditions": [entry]})
    typed = await incident.explain()
    assert "Deployment my-app/web-app: Manifest is not yet available" in typed.out


async def test_data_says_the_same_as_the_text(incident: Incident) -> None:
    await incident.happen("stuck")
    await incident.bind(2, *BEGUN, APPLIED, NOT_AVAILABLE, failedPlacements=FAILED)
    as_json = await incident.explain("-o", "json")
    found = json.loads(as_json.out)
    assert (found["kind"], found["name"], found["namespace"]) == (
        incident.scope.run.kind,
        incident.name,
        incident.namespace,
    )
    assert (found["phase"], found["attention"], found["stage"]) == ("stuck", "person", "staging")
    assert (found["clustersDone"], found["clustersTotal"], found["moreClusters"]) == (0, 3, {})
    (cluster,) = found["clusters"]
    assert (cluster["name"], cluster["stuck"]) == (incident.cluster(2), True)
    (trouble,) = cluster["troubles"]
    assert (trouble["condition"], trouble["reason"]) == ("Available", "ManifestNotAvailableYet")
    assert found["then"][-1] == "then the run is done"
    as_yaml = await incident.explain("-o", "yaml")
    assert yaml.safe_load(as_yaml.out)["clusters"] == found["clusters"]


async def test_a_run_that_waits_for_an_approval_can_be_approved_as_it_says(
    incident: Incident,
) -> None:
    await incident.happen("approval-before-canary")
    name = await incident.ask()
    typed = await incident.explain()
    assert "Waiting for the approval before stage canary, for " in typed.out
    lines = [line.strip() for line in typed.out.splitlines()]
    assert f"fleetgate approve {incident.name} canary --before{incident.flag}" in lines
    kubectl = next(shlex.split(line) for line in lines if line.startswith("kubectl patch"))
    assert kubectl[2:4] == [incident.scope.approval.plural, name]
    patch = json.loads(kubectl[-1])
    await incident.say(incident.scope.approval, name, patch["status"], incident.namespace)
    found = await incident.hub.get(incident.scope.approval, name, namespace=incident.namespace)
    assert approvals.approved(BaseApprovalRequest.from_wire(found))


async def test_a_run_that_another_one_ended_names_the_other(incident: Incident) -> None:
    await incident.happen("preempted")
    await incident.bind(2, run="other")
    typed = await incident.explain()
    assert f"Run other took over {incident.cluster(2)}." in " ".join(typed.out.split())
    assert f"  fleetgate run explain other{incident.flag}\n" in typed.out


async def test_a_run_that_could_not_be_planned_says_why_and_what_to_do(incident: Incident) -> None:
    await incident.happen("initialization-failed")
    typed = await incident.explain()
    assert "It could not be planned; no cluster was touched." in typed.out
    assert f"Why: The placement {incident.name} has no snapshot with index 1" in typed.out
    assert f"  fleetgate plan {incident.name} example-strategy{incident.flag}\n" in typed.out


async def test_a_new_run_waits_for_a_worker(incident: Incident) -> None:
    await incident.settle()
    await incident.placement.create_run(incident.name, "careful")
    typed = await incident.explain()
    assert "not planned yet" in typed.out


async def test_a_missing_run_may_have_been_deleted(incident: Incident) -> None:
    typed = await incident.explain()
    assert typed.code == 3
    assert f'"{incident.name}" not found' in typed.err
    assert "it may have been deleted" in typed.err


async def test_a_run_with_the_same_name_elsewhere_is_pointed_out(incident: Incident) -> None:
    await incident.happen("planned")
    elsewhere = [] if incident.namespace else ["-n", "default"]
    typed = await incident.fleetgate("run", "explain", incident.name, *elsewhere)
    assert typed.code == 3
    assert f"elsewhere: fleetgate run explain {incident.name}{incident.flag}\n" in typed.err


@pytest.mark.alone("counts the requests of the shared client")
async def test_of_many_clusters_few_are_looked_up_and_the_others_counted(
    incident: Incident,
) -> None:
    run = recorded("stuck")
    row = run["status"]["stagesStatus"][0]["clusters"][0]
    clusters = [incident.cluster(number) for number in range(12)]
    run["status"]["stagesStatus"][0]["clusters"] = [
        row | {"clusterName": each} for each in clusters
    ]
    await incident.write(run)
    await asyncio.gather(*(incident.bind(n, *BEGUN, APPLIED, NOT_AVAILABLE) for n in range(11)))
    typed = await incident.explain()
    assert "and 9 more clusters in flight: 8 where Available is False" in typed.out
    view = views.of(UpdateRun.from_wire(await incident.placement.read_run(incident.name)))
    before = incident.hub.requests.total()
    evidence = await Collector(incident.hub, incident.scope, view).collect(
        clusters[:3], others=clusters[3:]
    )
    assert incident.hub.requests.total() - before == 1 + 2 * 3 + 1
    assert evidence.steps == (*["Available is False"] * 8, "")


# -- rights ----------------------------------------------------------------------------------


@pytest.fixture
async def reader(hub: Hub, hub_kubeconfig: Path, tmp_path: Path, unique: str) -> Path:
    """Kubeconfig of a user who may read all objects of placements except Works and members."""
    path = await kubeconfig_of_nobody(hub, hub_kubeconfig, tmp_path, name=unique)
    roles = "rbac.authorization.k8s.io"
    rule = {
        "apiGroups": ["placement.kubernetes-fleet.io"],
        "resources": [
            each.plural
            for scope in (CLUSTER_SCOPE, NAMESPACED_SCOPE)
            for each in (scope.run, scope.binding, scope.approval)
        ],
        "verbs": ["get", "list", "watch"],
    }
    role = Kind(roles, "v1", "ClusterRole", "clusterroles", namespaced=False)
    await hub.create(role, {"metadata": {"name": unique}, "rules": [rule]})
    bound = Kind(roles, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
    subject = {"kind": "ServiceAccount", "name": unique, "namespace": "default"}
    reference = {"apiGroup": roles, "kind": "ClusterRole", "name": unique}
    body = {"metadata": {"name": unique}, "roleRef": reference, "subjects": [subject]}
    await hub.create(bound, body)
    return path


async def test_a_user_who_may_not_read_works_gets_what_the_binding_says(
    incident: Incident, reader: Path
) -> None:
    await incident.happen("stuck")
    await incident.bind(2, *BEGUN, APPLIED, NOT_AVAILABLE, failedPlacements=FAILED)
    typed = await incident.explain("--kubeconfig", str(reader))
    assert typed.code == 0, typed.err
    assert "Deployment my-app/web-app: Manifest is not yet available" in typed.out
    assert "You may not read memberclusters, works;" in typed.out


# -- all of them -----------------------------------------------------------------------------


async def test_active_runs_that_need_a_person_come_first(
    hub: Hub, fleetgate: Fleetgate, unique: str
) -> None:
    moments = {
        "a-waits": "timed-wait",
        "b-waits": "approval-before-canary",
        "c-stuck": "stuck",
        "d-over": "succeeded",
        "e-over": "preempted",
    }
    for name, moment in moments.items():
        await Incident(hub, NAMESPACED_SCOPE, name, fleetgate, home=unique).happen(moment)
    typed = await fleetgate("run", "explain", "--all", "-n", unique)
    assert typed.code == 0, typed.err
    heads = [line.split()[0] for line in typed.out.splitlines() if line.startswith(f"{unique}/")]
    assert heads == [f"{unique}/{name}" for name in ("c-stuck", "b-waits", "a-waits")]
    named = await fleetgate("run", "explain", "--all", "-n", unique, "-o", "name")
    assert len(named.out.splitlines()) == 3
    everywhere = await fleetgate("run", "explain", "--all", "-o", "json")
    found = [
        each["name"] for each in json.loads(everywhere.out)["runs"] if each["namespace"] == unique
    ]
    assert found == ["c-stuck", "b-waits", "a-waits"]
    for name in moments:
        await hub.delete(NAMESPACED_SCOPE.run, name, namespace=unique)


async def test_it_says_so_if_no_run_is_active(hub: Hub, fleetgate: Fleetgate, unique: str) -> None:
    typed = await fleetgate("run", "explain", "--all", "-n", unique)
    assert (typed.code, typed.out) == (0, "No run is active, and none has failed.\n")
    incident = Incident(hub, NAMESPACED_SCOPE, unique, fleetgate)
    await incident.happen("preempted")
    typed = await fleetgate("run", "explain", "--all", "-n", unique)
    assert typed.out == (
        f"No run is active. The last one that failed: fleetgate run explain {unique} -n {unique}\n"
    )
    await incident.placement.delete_run(unique)


@pytest.mark.parametrize("words", [[], ["some-run", "--all"]], ids=["neither", "both"])
async def test_either_a_run_or_all_must_be_specified(
    fleetgate: Fleetgate, words: list[str]
) -> None:
    typed = await fleetgate("run", "explain", *words)
    assert typed.code == 2
    assert "specify either a run or --all" in typed.err
