"""The namespaced part of the tutorial "staged update runs", typed as written."""

from api.kinds import NAMESPACE
from tests.e2e import namespaced, steps
from tests.e2e.fleet import Fleet, rows
from tests.e2e.namespaced import Person


def test_the_namespaced_tutorial_works_as_typed(fleet: Fleet) -> None:
    person = Person(fleet, "test-namespace")
    place_the_namespace(fleet)
    publish(person)
    plan(person)
    roll_out_staging(person)
    approve_canary(person)
    roll_back(person)
    clean_up(person)


def place_the_namespace(fleet: Fleet) -> None:
    fleet.kubectl("create namespace test-namespace")
    fleet.kubectl("create configmap test-cm --from-literal=key=value1 -n test-namespace")
    name = "test-namespace-placement"
    manifest = namespaced.namespace_placement(name, "test-namespace")
    fleet.kubectl("apply -f -", stdin=manifest)
    available = "condition=ClusterResourcePlacementAvailable"
    fleet.kubectl(f"wait crp {name} --for={available} --timeout=60s")
    (row,) = rows(fleet.kubectl(f"get clusterresourceplacement {name}"))
    assert row.pop("AGE")
    assert row == {
        "NAME": name,
        "GEN": "1",
        "SCHEDULED": "True",
        "SCHEDULED-GEN": "1",
        "AVAILABLE": "True",
        "AVAILABLE-GEN": "1",
    }
    for member in steps.NOWHERE:
        assert fleet.clients.find(NAMESPACE, "test-namespace", on=member)
    assert fleet.values() == steps.NOWHERE


def publish(person: Person) -> None:
    person.apply(namespaced.CONFIG_MAP_PLACEMENT)
    assert person.wait_for_placement("example-placement", "Scheduled") == {
        "NAME": "example-placement",
        "GEN": "1",
        "SCHEDULED": "True",
        "SCHEDULED-GEN": "1",
        "AVAILABLE": "",
        "AVAILABLE-GEN": "",
    }
    person.wait_for_snapshot("example-placement", "0")
    editor = "sed -i s/value1/value2/"
    person.fleet.shell(f"KUBE_EDITOR='{editor}' kubectl edit configmap test-cm -n test-namespace")
    person.wait_for_snapshot("example-placement", "1")
    path = "{.spec.selectedResources[0].data.key}"
    kept = person.kubectl(
        f'get resourcesnapshots example-placement-1-snapshot -o jsonpath="{path}"'
    )
    assert kept == "value2"
    assert person.fleet.values() == steps.NOWHERE


def run(person: Person, name: str, *, index: str, state: str) -> None:
    person.run(
        name,
        placement="example-placement",
        strategy="example-strategy",
        index=index,
        state=state,
    )


def plan(person: Person) -> None:
    person.apply(namespaced.TUTORIAL_STRATEGY)
    run(person, "example-run", index="1", state="Initialize")
    assert person.wait_for_run("example-run", "Initialized") == {
        "NAME": "example-run",
        "PLACEMENT": "example-placement",
        "RESOURCE-SNAPSHOT-INDEX": "1",
        "POLICY-SNAPSHOT-INDEX": "0",
        "INITIALIZED": "True",
        "PROGRESSING": "",
        "SUCCEEDED": "",
    }
    assert person.fleet.values() == steps.NOWHERE


def roll_out_staging(person: Person) -> None:
    person.kubectl(
        """patch stagedupdaterun example-run --type merge -p '{"spec":{"state":"Run"}}'"""
    )
    assert person.pending_approval("example-run-before-canary") == {
        "NAME": "example-run-before-canary",
        "UPDATE-RUN": "example-run",
        "STAGE": "canary",
        "APPROVED": "",
        "APPROVALACCEPTED": "",
    }
    assert person.fleet.values() == {"member1": "", "member2": "value2", "member3": ""}


def approve_with_file(person: Person, name: str) -> None:
    person.kubectl(
        f"patch approvalrequests {name} --type='merge' --subresource=status "
        "--patch-file approval.json"
    )


def approve_canary(person: Person) -> None:
    steps.write_approval_file(person.fleet)
    approve_with_file(person, "example-run-before-canary")
    assert person.wait_for_run("example-run", "Succeeded")["SUCCEEDED"] == "True"
    approval = person.approval("example-run-before-canary")
    assert (approval["APPROVED"], approval["APPROVALACCEPTED"]) == ("True", "True")
    placement = person.wait_for_placement("example-placement", "Available")
    assert (placement["AVAILABLE"], placement["AVAILABLE-GEN"]) == ("True", "1")
    assert person.fleet.values() == steps.everywhere("value2")


def roll_back(person: Person) -> None:
    run(person, "example-run-2", index="0", state="Run")
    person.pending_approval("example-run-2-before-canary")
    halfway = {"member1": "value2", "member2": "value1", "member3": "value2"}
    assert person.fleet.values() == halfway
    approve_with_file(person, "example-run-2-before-canary")
    person.wait_for_run("example-run-2", "Succeeded")
    assert person.fleet.values() == steps.everywhere("value1")


def clean_up(person: Person) -> None:
    person.kubectl("delete stagedupdaterun example-run example-run-2")
    assert person.kubectl("get approvalrequests -o name") == ""
    assert person.fleet.values() == steps.everywhere("value1"), "deleting a run does not roll back"
    person.kubectl("delete stagedupdatestrategy example-strategy")
    person.kubectl("delete resourceplacement example-placement --timeout=60s")
    assert person.fleet.values() == steps.NOWHERE
    person.fleet.kubectl("delete clusterresourceplacement test-namespace-placement --timeout=60s")
    for member in steps.NOWHERE:
        assert person.fleet.clients.find(NAMESPACE, "test-namespace", on=member) is None
    person.fleet.kubectl("delete namespace test-namespace --timeout=60s")
