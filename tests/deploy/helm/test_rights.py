"""The charts grant the rights of deploy/rbac to the accounts of the release."""

from pathlib import Path

import pytest
import yaml

from deploy.packaging import ROOT
from tests.deploy.helm.charts import (
    HUB_SIDE,
    MEMBER_SIDE,
    NAMESPACE,
    Helm,
    Json,
    Objects,
)

ROLES = ("ClusterRole", "Role")
BINDINGS = ("ClusterRoleBinding", "RoleBinding")
OWN = {"fleetgate-crds"}
"""Objects of the charts that are not in deploy/rbac."""


def shipped(*files: str) -> Objects:
    """The objects for users who do not use Helm."""
    found: list[Json] = []
    for file in files:
        found += yaml.safe_load_all((ROOT / "deploy" / "rbac" / file).read_text())
    return Objects(found)


def rules(objects: Objects) -> dict[tuple[str, str], Json]:
    return {
        (kind, name): {key: role[key] for key in ("rules", "aggregationRule") if key in role}
        for kind in ROLES
        for name, role in objects.of(kind).items()
        if name not in OWN
    }


def granted(objects: Objects) -> set[tuple[str, str, str]]:
    """Which account has which role."""
    return {
        (kind, binding["roleRef"]["name"], subject["name"])
        for kind in BINDINGS
        for name, binding in objects.of(kind).items()
        if name not in OWN
        for subject in binding["subjects"]
    }


def for_people() -> list[str]:
    names = {path.name for path in (ROOT / "deploy" / "rbac").glob("*.yaml")}
    for_processes = {"hub-side.yaml", "agents-on-hub.yaml"}
    return sorted(each for each in names - for_processes if not each.startswith("member-"))


def test_each_worker_role_has_the_rights_shipped_for_it(helm: Helm) -> None:
    files = shipped("hub-side.yaml")
    made = helm.render(HUB_SIDE, {"people": {"roles": False, "policies": False}})
    assert rules(made) == rules(files)
    assert granted(made) == granted(files)


def test_agents_on_the_hub_have_the_rights_shipped_for_them(helm: Helm) -> None:
    files = shipped("hub-side.yaml", "agents-on-hub.yaml")
    values = {"settings": {"memberSecrets": "edge"}, "people": {"roles": False, "policies": False}}
    made = helm.render(HUB_SIDE, values)
    assert rules(made) == rules(files)
    assert granted(made) == granted(files)
    for kind in ("Role", "RoleBinding"):
        assert made.one(kind, "fleetgate-agents")["metadata"]["namespace"] == "edge"


def test_roles_and_policies_for_people_are_the_shipped_ones(helm: Helm) -> None:
    serves = "admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy"
    made = helm.render(HUB_SIDE, None, "--api-versions", serves)
    without = helm.render(HUB_SIDE, {"people": {"roles": False, "policies": False}})
    added = [each for each in made.all if each not in without.all]
    for wanted in shipped(*for_people()).all:
        (found,) = (
            each
            for each in added
            if each["kind"] == wanted["kind"]
            and each["metadata"]["name"] == wanted["metadata"]["name"]
        )
        assert {key: found[key] for key in found if key != "metadata"} == {
            key: wanted[key] for key in wanted if key != "metadata"
        }
    assert len(added) == len(shipped(*for_people()).all)


def test_policies_that_the_hub_does_not_support_are_left_out(helm: Helm) -> None:
    assert not helm.render(HUB_SIDE).of("MutatingAdmissionPolicy")


def test_an_agent_has_the_rights_shipped_for_it(helm: Helm) -> None:
    files = shipped("member-agent-on-member.yaml")
    made = helm.render(MEMBER_SIDE)
    assert rules(made) == rules(files)
    assert granted(made) == granted(files)


@pytest.mark.parametrize(
    ("chart", "role"),
    [(HUB_SIDE, "fleetgate-content-reader"), (MEMBER_SIDE, "fleetgate-agent")],
    ids=["hub side", "member side"],
)
def test_the_kinds_that_may_be_placed_can_be_restricted(chart: Path, role: str, helm: Helm) -> None:
    only = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
    before = helm.render(chart).one("ClusterRole", role)["rules"]
    after = helm.render(chart, {"rbac": {"contentRules": [only]}}).one("ClusterRole", role)["rules"]
    assert after == [only, *before[1:]]
    assert {"apiGroups": ["*"], "resources": ["*"]}.items() <= before[0].items()


@pytest.mark.parametrize("chart", [HUB_SIDE, MEMBER_SIDE], ids=lambda chart: str(chart.name))
def test_no_rights_are_granted_if_rbac_is_turned_off(chart: Path, helm: Helm) -> None:
    values: Json = {"rbac": {"create": False}}
    if chart == HUB_SIDE:
        values |= {"people": {"roles": False}, "crds": {"install": False}}
    made = helm.render(chart, values)
    assert not any(made.of(kind) for kind in (*ROLES, *BINDINGS))


@pytest.mark.parametrize("processes", ["separate", "together"])
def test_rights_are_granted_only_to_accounts_in_use(processes: str, helm: Helm) -> None:
    made = helm.render(HUB_SIDE, {"processes": processes})
    run = {
        pod["serviceAccountName"] for _, _, pod in made.containers() if "serviceAccountName" in pod
    }
    assert {account for _, _, account in granted(made)} <= run
    assert run <= set(made.of("ServiceAccount"))
    for kind in BINDINGS:
        for binding in made.of(kind).values():
            assert {each["namespace"] for each in binding["subjects"]} == {NAMESPACE}
