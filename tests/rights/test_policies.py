"""The policies in deploy/rbac: who may write what, and that recorded names are true."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from api.kinds import CLUSTER_SCOPE
from api.names import (
    CREATED_BY,
    ROLLBACK_OF,
    ROLLBACK_OF_UID,
    STATE_BY,
    STATE_COMMENT,
    STATE_GENERATION,
)
from deploy.installing import crds, manifests, policies
from hub import Forbidden, Hub, Json
from tests.agent.credentials import grant
from tests.rights.conftest import Person
from tests.rights.gates import WAYS, Gate, annotations, approval, merge
from tests.rights.people import bind, kubeconfig_of
from tests.support.eventually import eventually
from tests.support.servers import PrivateApiServer

RUN = {"spec": {"state": "Run"}}

pytestmark = pytest.mark.both_scopes


@pytest.mark.parametrize("how", WAYS)
async def test_an_approval_names_its_approver(gate: Gate, person: Person, how: str) -> None:
    jane = await person("jane", "fleetgate-approver")
    assert await gate.approve(jane, "lgtm", WAYS[how]) == "lgtm (by jane)"


@pytest.mark.parametrize("how", WAYS)
async def test_the_users_own_name_is_added_to_a_forged_one(
    gate: Gate, person: Person, how: str
) -> None:
    jane = await person("jane", "fleetgate-approver")
    assert await gate.approve(jane, "ok (by joe)", WAYS[how]) == "ok (by joe) (by jane)"


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("", "approved (by jane)"),
        ("ok (by jane)", "ok (by jane)"),
        ("ok (by jane on behalf of joe)", "ok (by jane on behalf of joe)"),
        ("ok (by janet)", "ok (by janet) (by jane)"),
        ("ok (by jane) (by joe)", "ok (by jane) (by joe) (by jane)"),
        ("ok (by joe on behalf of jane)", "ok (by joe on behalf of jane) (by jane)"),
        ("ok (by jane on behalf of joe) or so", "ok (by jane on behalf of joe) or so (by jane)"),
    ],
)
async def test_an_approval_is_signed_unless_it_already_names_the_user(
    gate: Gate, person: Person, written: str, stored: str
) -> None:
    assert await gate.approve(await person("jane", "fleetgate-approver"), written) == stored


async def test_a_changed_approval_is_signed_again(gate: Gate, person: Person) -> None:
    await gate.approve(await person("jane", "fleetgate-approver"), "ok")
    joe = await person("joe", "fleetgate-approver")
    assert await gate.approve(joe, "fine (by jane)") == "fine (by jane) (by joe)"


async def test_an_approver_cannot_set_other_conditions(gate: Gate, person: Person) -> None:
    jane = await person("jane", "fleetgate-approver")
    forged = approval("", kind="ApprovalAccepted")
    with pytest.raises(Forbidden, match="jane may only set the condition Approved"):
        await merge(jane, gate.scope.approval, await gate.request(), forged, "status")


async def test_the_right_to_write_the_status_does_not_include_approval(
    gate: Gate, person: Person
) -> None:
    writer = await person("writer", "writes-status")
    with pytest.raises(Forbidden, match="writer may not approve: this requires the verb approve"):
        await gate.approve(writer, "ok")


async def test_only_approvers_can_withdraw_an_approval(gate: Gate, person: Person) -> None:
    await gate.approve(await person("jane", "fleetgate-approver"), "ok")
    writer = await person("writer", "writes-status")
    none: Json = {"status": {"conditions": []}}
    with pytest.raises(Forbidden, match="writer may not approve"):
        await merge(writer, gate.scope.approval, await gate.request(), none, "status")


async def test_the_engine_can_accept_approvals_and_pass_on_names(
    gate: Gate, clients: dict[str, Hub]
) -> None:
    engine = clients["engine"]
    assert await gate.approve(engine, "ok (by joe)") == "ok (by joe)"
    conditions = (await gate.request())["status"]["conditions"]
    conditions += approval("", kind="ApprovalAccepted")["status"]["conditions"]
    change = {"status": {"conditions": conditions}}
    await merge(engine, gate.scope.approval, await gate.request(), change, "status")
    assert len((await gate.request())["status"]["conditions"]) == 2


async def test_an_administrator_approves_under_their_own_name_and_is_not_an_engine(
    gate: Gate,
) -> None:
    """The administrator of the tests' hub is named admin."""
    assert await gate.approve(gate.admin, "ok (by jane)") == "ok (by jane) (by admin)"
    forged = approval("", kind="ApprovalAccepted")
    with pytest.raises(Forbidden, match="admin may only set the condition Approved"):
        await merge(gate.admin, gate.scope.approval, await gate.request(), forged, "status")
    status = {"status": {"policyObservedClusterCount": 7}}
    with pytest.raises(Forbidden, match=r"admin may not write the status of .*add --as"):
        await merge(gate.admin, gate.scope.run, await gate.run(), status, "status")


async def test_an_administrator_can_repair_a_status_by_impersonating_the_engine(
    gate: Gate, person: Person
) -> None:
    engine = await person("system:serviceaccount:fleetgate:fleetgate-engine")
    status = {"status": {"policyObservedClusterCount": 7}}
    await merge(engine, gate.scope.run, await gate.run(), status, "status")
    assert (await gate.run())["status"]["policyObservedClusterCount"] == 7


async def test_a_run_names_its_creator(gate: Gate, person: Person) -> None:
    jane = await person("jane", "fleetgate-runner")
    name = f"{gate.unique}-2"
    forged = {CREATED_BY: "joe", STATE_BY: "joe", STATE_GENERATION: "1"}
    made = await gate.make_run(jane, name, annotations=forged)
    assert annotations(made) == {"created-by": "jane"}
    assert annotations(await gate.make_run(jane, f"{name}-3")) == {"created-by": "jane"}


@pytest.mark.parametrize("how", WAYS)
async def test_a_run_names_the_user_who_started_it(gate: Gate, person: Person, how: str) -> None:
    jane = await person("jane", "fleetgate-runner")
    forged = {"metadata": {"annotations": {STATE_BY: "joe", STATE_GENERATION: "2"}}}
    assert await gate.change(jane, RUN | forged, WAYS[how]) == {
        "created-by": "admin",
        "state-by": "jane",
        "state-generation": "2",
    }


@pytest.mark.parametrize("how", WAYS)
async def test_names_on_a_run_cannot_be_edited(gate: Gate, person: Person, how: str) -> None:
    jane = await person("jane", "fleetgate-runner")
    true = await gate.change(jane, RUN)
    joe = await person("joe", "fleetgate-runner")
    forged = {CREATED_BY: "joe", STATE_BY: "joe", STATE_COMMENT: "forged", STATE_GENERATION: "3"}
    assert await gate.change(joe, {"metadata": {"annotations": forged}}, WAYS[how]) == true


async def test_names_on_a_run_cannot_be_removed(gate: Gate, person: Person) -> None:
    jane = await person("jane", "fleetgate-runner")
    true = await gate.change(jane, RUN)
    assert await gate.change(jane, {"metadata": {"annotations": None}}) == true


async def test_a_comment_belongs_to_one_change(gate: Gate, person: Person) -> None:
    jane = await person("jane", "fleetgate-runner")
    said = {STATE_BY: "jane on behalf of joe", STATE_COMMENT: "now", STATE_GENERATION: "2"}
    started = await gate.change(jane, RUN | {"metadata": {"annotations": said}})
    assert (started["state-by"], started["state-comment"]) == ("jane on behalf of joe", "now")
    stopped = await gate.change(jane, {"spec": {"state": "Stop"}})
    assert stopped == {"created-by": "admin", "state-by": "jane", "state-generation": "3"}


async def test_the_engine_can_record_the_name_in_a_message(
    gate: Gate, clients: dict[str, Hub]
) -> None:
    said = {STATE_BY: "somebody in Temporal", STATE_GENERATION: "2"}
    found = await gate.change(clients["engine"], RUN | {"metadata": {"annotations": said}})
    assert found["state-by"] == "somebody in Temporal"


@pytest.mark.parametrize("how", WAYS)
async def test_only_the_engine_can_call_a_run_a_rollback(
    gate: Gate, person: Person, clients: dict[str, Hub], how: str
) -> None:
    """Such a run follows the rules of another one, and goes ahead of those that wait."""
    jane = await person("jane", "fleetgate-runner")
    for mark in (ROLLBACK_OF, ROLLBACK_OF_UID):
        marked = {"metadata": {"annotations": {mark: "other"}}}
        with pytest.raises(Forbidden, match="fleetgate sets it when a rollout policy"):
            await gate.change(jane, marked, WAYS[how])
        with pytest.raises(Forbidden, match="fleetgate sets it when a rollout policy"):
            await gate.make_run(jane, f"{gate.unique}-mine", annotations={mark: "other"})
    await gate.change(clients["engine"], {"metadata": {"annotations": {ROLLBACK_OF: "other"}}})


async def test_no_other_account_can_name_others(gate: Gate, person: Person) -> None:
    """For example Argo CD's account, which often has all rights."""
    account = await person("system:serviceaccount:argocd:argocd", "cluster-admin")
    said = {STATE_BY: "joe", STATE_GENERATION: "2"}
    found = await gate.change(account, RUN | {"metadata": {"annotations": said}})
    assert found["state-by"] == "system:serviceaccount:argocd:argocd"
    assert await gate.approve(account, "ok (by joe)") == (
        "ok (by joe) (by system:serviceaccount:argocd:argocd)"
    )


async def test_an_account_with_all_rights_can_report(gate: Gate, person: Person) -> None:
    """For example that of KubeFleet's hub agent."""
    account = await person("system:serviceaccount:fleet-system:hub-agent", "cluster-admin")
    status = {"status": {"policyObservedClusterCount": 7}}
    found = await merge(account, gate.scope.run, await gate.run(), status, "status")
    assert found["status"]["policyObservedClusterCount"] == 7


@pytest.fixture
async def without_names(
    private_api_server: PrivateApiServer, tmp_path: Path
) -> AsyncIterator[tuple[Gate, Hub]]:
    """A gate and jane's client, on a hub whose API server cannot record who did what."""
    async with AsyncExitStack() as stack:
        kubeconfig = private_api_server.kubeconfig
        admin = await stack.enter_async_context(await Hub.connect(kubeconfig, manager="kubectl"))
        scope = CLUSTER_SCOPE
        kinds = (scope.run, scope.approval, scope.binding)
        await crds.install(admin, [crds.definition(kind) for kind in kinds])
        await grant(admin, "people.yaml")
        for body in manifests.documents(policies.CHECKS):
            await manifests.apply(admin, body)
        for role in ("fleetgate-runner", "fleetgate-approver"):
            await bind(admin, "jane", role)
        of_jane = kubeconfig_of("jane", admin=kubeconfig, folder=tmp_path)
        jane = await stack.enter_async_context(await Hub.connect(of_jane))
        gate = Gate(admin, scope, "gate")
        await gate.prepare()
        yield gate, jane


async def test_false_names_are_refused_if_the_api_server_cannot_record_names(
    without_names: tuple[Gate, Hub],
) -> None:
    gate, jane = without_names

    async def refused() -> bool:
        try:
            await gate.make_run(jane, "forged", annotations={CREATED_BY: "joe"})
        except Forbidden as error:
            return 'created-by is "joe", but the user is jane' in str(error)
        await gate.admin.delete(gate.scope.run, "forged")
        return False

    await eventually(refused)
    assert annotations(await gate.make_run(jane, "mine", annotations={CREATED_BY: "jane"}))

    forged = {"metadata": {"annotations": {STATE_BY: "joe", STATE_GENERATION: "2"}}}
    with pytest.raises(Forbidden, match='state-by is "joe", but the user is jane'):
        await gate.change(jane, RUN | forged)
    true = {"metadata": {"annotations": {STATE_BY: "jane on behalf of joe"}}}
    assert (await gate.change(jane, RUN | true))["state-by"] == "jane on behalf of joe"
    assert await gate.change(gate.admin, {"spec": {"state": "Stop"}}), "kubectl alone works"

    with pytest.raises(Forbidden, match="names someone other than jane"):
        await gate.approve(jane, "ok (by joe)")
    assert await gate.approve(jane, "ok") == "ok"
    assert await gate.approve(jane, "fine (by jane)") == "fine (by jane)"
