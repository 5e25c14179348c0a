"""What `kubectl get` shows: the tables of a real API server (contract: update-runs 1)."""

from typing import Any

import pytest

from api.base import KubernetesObject
from api.crds import MODELS
from api.kinds import CUSTOM_RESOURCE_DEFINITION, MEMBER_CLUSTER, Kind, Scope
from hub import Hub
from hub.requests import ApiRequest, item_path
from tests.api.conftest import Make
from tests.api.samples import place, placement_spec, report, run_spec, sample
from tests.support.conditions import AT, condition

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def table_of(hub: Hub, kind: Kind, name: str, *, wide: bool = False) -> dict[str, Any]:
    """Return the row of an object by column, without Age, which changes."""
    path = item_path(kind, name, namespace=place(kind))
    table = await hub._transport.send(ApiRequest("get", kind.plural, "GET", path, accept=TABLE))
    columns = table["columnDefinitions"]
    row = dict(zip((column["name"] for column in columns), table["rows"][0]["cells"], strict=True))
    shown = [column["name"] for column in columns if wide or not column["priority"]]
    assert "Age" in shown
    return {name: row[name] for name in shown if name != "Age"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
async def test_the_api_server_establishes_every_kind(
    hub: Hub, model: type[KubernetesObject]
) -> None:
    kind = model.resource.kind
    stored = await hub.get(CUSTOM_RESOURCE_DEFINITION, f"{kind.plural}.{kind.group}")
    conditions = {each["type"]: each["status"] for each in stored["status"]["conditions"]}
    assert conditions == {"Established": "True", "NamesAccepted": "True"}
    for version in stored["spec"]["versions"]:
        served = await hub.kind_for(f"{kind.group}/{version['name']}", kind.kind)
        assert served is not None
        assert served.namespaced == kind.namespaced


async def test_the_table_of_runs(hub: Hub, scope: Scope, make: Make, unique: str) -> None:
    spec = run_spec(resourceSnapshotIndex="1")
    await make(scope.run, sample(scope.run, unique, spec))
    conditions = [condition("Initialized"), condition("Progressing", status="False")]
    status = {"policySnapshotIndexUsed": "0", "conditions": conditions}
    await report(hub, scope.run, unique, status)
    assert await table_of(hub, scope.run, unique, wide=True) == {
        "Name": unique,
        "Placement": "p",
        "Resource-Snapshot-Index": "1",
        "Policy-Snapshot-Index": "0",
        "Initialized": "True",
        "Progressing": "False",
        "Succeeded": None,
        "Strategy": "s",
    }
    assert "Strategy" not in await table_of(hub, scope.run, unique)


async def test_the_table_of_approval_requests(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    spec = {"parentStageRollout": "run", "targetStage": "canary"}
    await make(scope.approval, sample(scope.approval, unique, spec))
    await report(hub, scope.approval, unique, {"conditions": [condition("Approved")]})
    assert await table_of(hub, scope.approval, unique) == {
        "Name": unique,
        "Update-Run": "run",
        "Stage": "canary",
        "Approved": "True",
        "ApprovalAccepted": None,
    }


async def test_the_table_of_placements(hub: Hub, scope: Scope, make: Make, unique: str) -> None:
    kind = scope.placement
    await make(kind, sample(kind, unique, placement_spec(policy={})))
    conditions = [condition(f"{kind.kind}Scheduled"), condition(f"{kind.kind}WorkSynchronized")]
    await report(hub, kind, unique, {"conditions": conditions})
    assert await table_of(hub, kind, unique, wide=True) == {
        "Name": unique,
        "Gen": "1",
        "Type": "PickAll",
        "Scheduled": "True",
        "Scheduled-Gen": "1",
        "Work-Synchronized": "True",
        "Work-Synchronized-Gen": "1",
        "Available": None,
        "Available-Gen": None,
    }


async def test_the_table_of_member_clusters(hub: Hub, make: Make, unique: str) -> None:
    spec = {"identity": {"kind": "User", "name": "member1"}}
    await make(MEMBER_CLUSTER, sample(MEMBER_CLUSTER, unique, spec))
    agent = {"type": "MemberAgent", "lastReceivedHeartbeat": AT}
    properties = {"kubernetes-fleet.io/node-count": {"value": "3", "observationTime": AT}}
    usage = {"available": {"cpu": "1", "memory": "2Gi"}}
    status = {
        "conditions": [condition("Joined")],
        "agentStatus": [agent],
        "properties": properties,
        "resourceUsage": usage,
    }
    await report(hub, MEMBER_CLUSTER, unique, status)
    row = await table_of(hub, MEMBER_CLUSTER, unique)
    assert row.pop("Member-Agent-Last-Seen")
    assert row == {
        "Name": unique,
        "Joined": "True",
        "Node-Count": "3",
        "Available-CPU": "1",
        "Available-Memory": "2Gi",
    }


async def test_an_object_written_in_one_version_is_readable_in_the_other(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    written = await make(scope.run, sample(scope.run, unique, run_spec()))
    stable = Kind(scope.run.group, "v1", scope.run.kind, scope.run.plural, scope.run.namespaced)
    read = await hub.get(stable, unique, namespace=place(stable))
    assert read["apiVersion"].endswith("/v1")
    assert read["spec"] == written["spec"]
