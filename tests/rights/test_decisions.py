"""Who may decide about runs, and that nobody can decide in another's name (policies: 2.3)."""

from typing import Any

import pytest

from api.kinds import Scope
from hub import Forbidden, Hub, Invalid, Json
from tests.rights.conftest import Person
from tests.rights.people import CLUSTER_ROLE

pytestmark = pytest.mark.both_scopes

ON_CALL = "fleetgate-on-call"


def body(scope: Scope, name: str, **changed: Any) -> Json:
    place = {"namespace": "default"} if scope.decision.namespaced else {}
    spec = {"run": "v2", "decision": "Continue", "reason": "INC-7"} | changed
    return {"metadata": {"name": name} | place, "spec": spec}


def skipping(**changed: Any) -> Json:
    return {"decision": "SkipCluster", "cluster": "member1"} | changed


@pytest.mark.parametrize(
    "by", [None, {"username": "joe"}, {"username": "jane", "groups": ["system:masters"]}]
)
async def test_a_decision_names_who_made_it_whatever_they_write(
    person: Person, scope: Scope, unique: str, by: Json | None
) -> None:
    jane = await person("jane", ON_CALL)
    fields = {"by": by} if by else {}
    stored = await jane.create(scope.decision, body(scope, unique, **fields))
    assert stored["spec"]["by"] == {"username": "jane", "groups": ["system:authenticated"]}


@pytest.mark.parametrize("role", ["fleetgate-viewer", "fleetgate-runner", "fleetgate-approver"])
async def test_other_roles_decide_nothing(
    person: Person, scope: Scope, unique: str, role: str
) -> None:
    someone = await person(f"{unique}-someone", role)
    with pytest.raises(Forbidden):
        await someone.create(scope.decision, body(scope, unique))


async def test_a_role_may_allow_one_kind_of_decision_only(
    admin: Hub, person: Person, scope: Scope, unique: str
) -> None:
    rule = {
        "apiGroups": ["fleetgate.dev"],
        "resources": [scope.decision.plural],
        "verbs": ["create", "skip"],
    }
    await admin.apply(CLUSTER_ROLE, {"metadata": {"name": unique}, "rules": [rule]})
    joe = await person(f"{unique}-joe", unique)
    await joe.create(scope.decision, body(scope, f"{unique}-1", **skipping()))
    with pytest.raises(
        Forbidden, match="may not decide RetryCluster: this requires the verb retry"
    ):
        await joe.create(
            scope.decision, body(scope, f"{unique}-2", **skipping(decision="RetryCluster"))
        )


async def test_a_name_cannot_be_changed_afterwards(
    person: Person, admin: Hub, scope: Scope, unique: str
) -> None:
    jane = await person("jane", ON_CALL)
    made = body(scope, unique)
    await jane.create(scope.decision, made)
    forged = made | {"spec": made["spec"] | {"by": {"username": "joe"}}}
    with pytest.raises(Forbidden):
        await jane.apply(scope.decision, forged)
    with pytest.raises(Invalid, match="a decision cannot be changed"):
        await admin.apply(scope.decision, forged)


async def test_whoever_impersonates_a_user_is_recorded_as_that_user(
    person: Person, scope: Scope, unique: str
) -> None:
    # The API server's audit log has both names; a decision has the one whose rights counted.
    joe = await person(f"{unique}-joe", ON_CALL)
    stored = await joe.create(scope.decision, body(scope, unique))
    assert stored["spec"]["by"]["username"] == f"{unique}-joe"


async def test_people_cannot_answer_decisions_or_write_reports(
    person: Person, admin: Hub, scope: Scope, unique: str
) -> None:
    jane = await person("jane", ON_CALL)
    await jane.create(scope.decision, body(scope, unique))
    for hub in (jane, admin):
        with pytest.raises(Forbidden):
            await hub.patch(
                scope.decision,
                unique,
                {"status": {"state": "Counted", "message": "", "at": "2026-01-01T00:00:00Z"}},
                namespace=body(scope, unique)["metadata"].get("namespace", ""),
                subresource="status",
            )
