"""The commands of `fleetgate run` and `fleetgate approve` against a real hub."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub, NotFound
from tests.starter.conftest import Fleetgate

DATA = Path(__file__).parent / "data"


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
def scope(request: pytest.FixtureRequest) -> Scope:
    found: Scope = request.param
    return found


@pytest.fixture
def namespace(scope: Scope) -> str:
    return "default" if scope is NAMESPACED_SCOPE else ""


@pytest.fixture
def flags(namespace: str) -> list[str]:
    return ["-n", namespace] if namespace else []


@pytest.fixture
async def run_at_gate(
    hub: Hub, scope: Scope, namespace: str, unique: str
) -> AsyncIterator[dict[str, Any]]:
    """A run that waits for the approval before its stage canary, and the request for it."""
    recorded = yaml.safe_load((DATA / "approval-before-canary.yaml").read_text())
    spec = {**recorded["spec"], "state": "Run"}
    made = await hub.create(
        scope.run, {"metadata": {"name": unique, "namespace": namespace}, "spec": spec}
    )
    status = recorded["status"]
    request = f"{unique}-before-canary"
    status["stagesStatus"][1]["beforeStageTaskStatus"][0]["approvalRequestName"] = request
    await hub.patch(
        scope.run, unique, {"status": status}, namespace=namespace, subresource="status"
    )
    await hub.create(
        scope.approval,
        {
            "metadata": {"name": request, "namespace": namespace},
            "spec": {"parentStageRollout": unique, "targetStage": "canary"},
        },
    )
    yield made
    await hub.delete(scope.approval, request, namespace=namespace)
    if await hub.find(scope.run, unique, namespace=namespace):
        await hub.delete(scope.run, unique, namespace=namespace)


async def test_create_makes_the_object_that_the_options_say(
    fleetgate: Fleetgate, hub: Hub, scope: Scope, namespace: str, flags: list[str], unique: str
) -> None:
    typed = await fleetgate(
        *("run", "create", unique, "--placement", "p", "--strategy", "s", "--index", "3", *flags)
    )
    assert typed.code == 0, typed.err
    assert typed.out == f"{scope.run.kind.lower()}.placement.kubernetes-fleet.io/{unique} created\n"
    made = await hub.get(scope.run, unique, namespace=namespace)
    assert made["spec"] == {
        "placementName": "p",
        "stagedRolloutStrategyName": "s",
        "resourceSnapshotIndex": "3",
        "state": "Initialize",
    }
    await hub.delete(scope.run, unique, namespace=namespace)


async def test_a_taken_name_is_refused_in_one_line(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], flags: list[str], unique: str
) -> None:
    typed = await fleetgate(
        *("run", "create", unique, "--placement", "p", "--strategy", "s", *flags)
    )
    assert typed.code == 1
    assert typed.err.startswith("error: ")
    assert "already exists" in typed.err
    assert "Traceback" not in typed.err


async def test_the_hubs_reason_for_a_refusal_is_shown(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("run", "create", "n" * 64, "--placement", "p", "--strategy", "s")
    assert typed.code == 1
    assert "metadata.name max length is 63" in typed.err


async def test_show_fits_one_screen_and_names_the_next_command(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], flags: list[str], unique: str
) -> None:
    typed = await fleetgate("run", "show", unique, *flags)
    assert typed.code == 0, typed.err
    assert "waiting for approval before stage canary" in typed.out
    assert " ".join(["fleetgate approve", unique, "canary --before", *flags]) in typed.out
    assert len(typed.out.splitlines()) <= 24
    assert max(len(line) for line in typed.out.splitlines()) <= 100
    assert "\x1b" not in typed.out


async def test_a_missing_run_has_its_own_exit_code(
    fleetgate: Fleetgate, flags: list[str], unique: str
) -> None:
    for command in ("show", "start", "stop", "watch", "delete"):
        typed = await fleetgate("run", command, unique, *flags)
        assert (command, typed.code) == (command, 3)
        assert f'"{unique}" not found' in typed.err


async def test_list_shows_where_each_run_is(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], flags: list[str], unique: str
) -> None:
    typed = await fleetgate("run", "list", *flags)
    assert typed.code == 0, typed.err
    line = next(line for line in typed.out.splitlines() if unique in line)
    assert "1/3" in line
    assert "waiting: approval before" in line
    assert max(len(each) for each in typed.out.splitlines()) <= 100


async def test_runs_of_all_namespaces_are_listed_with_their_namespace(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], namespace: str, unique: str
) -> None:
    typed = await fleetgate("run", "list", "-A")
    lines = [line.split()[:2] for line in typed.out.splitlines()]
    assert (["default", unique] in lines) == bool(namespace)


async def test_objects_are_printed_as_programs_read_them(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], scope: Scope, flags: list[str], unique: str
) -> None:
    as_json = await fleetgate("run", "show", unique, "-o", "json", *flags)
    as_yaml = await fleetgate("run", "show", unique, "-o", "yaml", *flags)
    as_names = await fleetgate("run", "list", "-o", "name", *flags)
    assert json.loads(as_json.out)["metadata"]["uid"] == run_at_gate["metadata"]["uid"]
    assert yaml.safe_load(as_yaml.out)["kind"] == scope.run.kind
    assert (
        f"{scope.run.kind.lower()}.placement.kubernetes-fleet.io/{unique}"
        in as_names.out.splitlines()
    )


async def test_without_temporal_stop_and_start_write_the_object(
    fleetgate: Fleetgate,
    hub: Hub,
    run_at_gate: dict[str, Any],
    scope: Scope,
    namespace: str,
    flags: list[str],
    unique: str,
) -> None:
    stopped = await fleetgate("run", "stop", unique, *flags)
    assert stopped.code == 0, stopped.err
    assert "Temporal cannot be reached; wrote spec.state Stop to the object" in stopped.out
    assert (await hub.get(scope.run, unique, namespace=namespace))["spec"]["state"] == "Stop"
    started = await fleetgate("run", "start", unique, *flags)
    assert started.code == 0, started.err
    assert (await hub.get(scope.run, unique, namespace=namespace))["spec"]["state"] == "Run"


async def test_without_temporal_approve_writes_the_condition_for_the_objects_generation(
    fleetgate: Fleetgate,
    hub: Hub,
    run_at_gate: dict[str, Any],
    scope: Scope,
    namespace: str,
    flags: list[str],
    unique: str,
) -> None:
    typed = await fleetgate("approve", unique, "canary", "--before", "--comment", "lgtm", *flags)
    assert typed.code == 0, typed.err
    request = await hub.get(scope.approval, f"{unique}-before-canary", namespace=namespace)
    (condition,) = request["status"]["conditions"]
    assert condition["type"] == "Approved"
    assert condition["status"] == "True"
    assert condition["observedGeneration"] == request["metadata"]["generation"]
    assert condition["message"].endswith(": lgtm")
    assert " by " in condition["message"], "the kubeconfig's user is named"


async def test_approving_a_gate_that_is_not_waited_for_says_which_one_is(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], flags: list[str], unique: str
) -> None:
    typed = await fleetgate("approve", unique, "staging", *flags)
    assert typed.code == 1
    assert typed.err == (
        f"error: run {unique} waits for no approval stage staging; "
        "it waits for: approval before stage canary\n"
    )


async def test_a_run_that_has_ended_is_not_started(
    fleetgate: Fleetgate, hub: Hub, unique: str
) -> None:
    recorded = yaml.safe_load((DATA / "succeeded.yaml").read_text())
    body = {"metadata": {"name": unique}, "spec": recorded["spec"]}
    await hub.create(CLUSTER_SCOPE.run, body)
    await hub.patch(CLUSTER_SCOPE.run, unique, {"status": recorded["status"]}, subresource="status")
    typed = await fleetgate("run", "start", unique)
    assert typed.code == 1
    assert typed.err.startswith(f"error: run {unique} has succeeded; that is final")
    watched = await fleetgate("run", "watch", unique)
    assert watched.code == 0
    assert "3/3 succeeded" in watched.out
    await hub.delete(CLUSTER_SCOPE.run, unique)


async def test_watch_can_end_where_a_person_is_needed(
    fleetgate: Fleetgate, run_at_gate: dict[str, Any], flags: list[str], unique: str
) -> None:
    typed = await fleetgate("run", "watch", unique, "--exit-on-gate", *flags)
    assert typed.code == 4
    assert "1/3 waiting for approval before stage canary" in typed.out


async def test_watch_follows_the_object_until_the_run_fails(
    fleetgate: Fleetgate,
    hub: Hub,
    run_at_gate: dict[str, Any],
    scope: Scope,
    namespace: str,
    flags: list[str],
    unique: str,
) -> None:
    watching = asyncio.create_task(fleetgate("run", "watch", unique, *flags))
    failed = yaml.safe_load((DATA / "preempted.yaml").read_text())["status"]
    await hub.patch(
        scope.run, unique, {"status": failed}, namespace=namespace, subresource="status"
    )
    typed = await asyncio.wait_for(watching, timeout=20)
    assert typed.code == 1
    assert "failed: the binding of the updating cluster `member2`" in typed.out


async def test_watch_ends_when_the_run_is_deleted(
    fleetgate: Fleetgate,
    hub: Hub,
    run_at_gate: dict[str, Any],
    scope: Scope,
    namespace: str,
    flags: list[str],
    unique: str,
) -> None:
    watching = asyncio.create_task(fleetgate("run", "watch", unique, *flags))
    deleted = await fleetgate("run", "delete", unique, *flags)
    assert deleted.code == 0, deleted.err
    with pytest.raises(NotFound):
        await hub.get(scope.run, unique, namespace=namespace)
    typed = await asyncio.wait_for(watching, timeout=20)
    assert typed.code == 3
