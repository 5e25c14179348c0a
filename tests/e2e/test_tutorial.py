"""The tutorial "staged update runs" (cluster-scoped), typed as written."""

from api.kinds import CLUSTER_STAGED_UPDATE_RUN
from tests.e2e import objects, steps
from tests.e2e.fleet import Fleet


def test_the_tutorial_works_as_typed(fleet: Fleet) -> None:
    steps.publish(fleet)
    steps.change(fleet, "value1", "value2", index="1")
    plan(fleet)
    roll_out_staging(fleet)
    approve_canary(fleet)
    roll_back(fleet)
    clean_up(fleet)


def plan(fleet: Fleet) -> None:
    fleet.kubectl("apply -f -", stdin=objects.TUTORIAL_STRATEGY)
    fleet.kubectl("apply -f -", stdin=objects.run("example-run", index="1", state="Initialize"))
    steps.wait_for_run(fleet, "example-run", "Initialized")
    assert steps.run_row(fleet, "example-run") == {
        "NAME": "example-run",
        "PLACEMENT": "example-placement",
        "RESOURCE-SNAPSHOT-INDEX": "1",
        "POLICY-SNAPSHOT-INDEX": "0",
        "INITIALIZED": "True",
        "PROGRESSING": "",
        "SUCCEEDED": "",
    }
    assert fleet.values() == steps.NOWHERE


def roll_out_staging(fleet: Fleet) -> None:
    start = (
        """patch clusterstagedupdaterun example-run --type merge -p '{"spec":{"state":"Run"}}'"""
    )
    fleet.kubectl(start)
    steps.wait_for_cluster(fleet, "example-run", stage=0, cluster=0)
    assert fleet.values() == {"member1": "", "member2": "value2", "member3": ""}
    assert steps.pending_approval(fleet, "example-run-before-canary") == {
        "NAME": "example-run-before-canary",
        "UPDATE-RUN": "example-run",
        "STAGE": "canary",
        "APPROVED": "",
        "APPROVALACCEPTED": "",
    }
    assert fleet.values() == {"member1": "", "member2": "value2", "member3": ""}
    check_status_at_the_gate(fleet)


def check_status_at_the_gate(fleet: Fleet) -> None:
    steps.wait_for_reason(fleet, "example-run", "UpdateRunWaiting")
    run = fleet.clients.find(CLUSTER_STAGED_UPDATE_RUN, "example-run")
    assert run is not None
    status = run["status"]
    staging, canary = status["stagesStatus"]
    (waited,) = staging["afterStageTaskStatus"]
    assert waited["conditions"][0]["type"] == "WaitTimeElapsed"
    assert waited["conditions"][0]["status"] == "True"
    assert [each["clusterName"] for each in canary["clusters"]] == ["member3", "member1"]
    assert canary["beforeStageTaskStatus"][0]["approvalRequestName"] == "example-run-before-canary"
    assert "startTime" not in canary
    assert status["deletionStageStatus"]["clusters"] == []
    assert status["policyObservedClusterCount"] == 3
    assert status["resourceSnapshotIndexUsed"] == "1"


def approve_canary(fleet: Fleet) -> None:
    steps.write_approval_file(fleet)
    steps.approve_with_file(fleet, "example-run-before-canary")
    steps.wait_for_run(fleet, "example-run", "Succeeded")
    approval = steps.approval_row(fleet, "example-run-before-canary")
    assert approval["APPROVED"] == "True"
    assert approval["APPROVALACCEPTED"] == "True"
    assert steps.run_row(fleet, "example-run")["SUCCEEDED"] == "True"
    available = "condition=ClusterResourcePlacementAvailable"
    fleet.kubectl(f"wait crp example-placement --for={available} --timeout=30s")
    assert fleet.values() == steps.everywhere("value2")


def roll_back(fleet: Fleet) -> None:
    fleet.kubectl("apply -f -", stdin=objects.run("example-run-2", index="0", state="Run"))
    steps.pending_approval(fleet, "example-run-2-before-canary")
    assert fleet.values() == {"member1": "value2", "member2": "value1", "member3": "value2"}
    steps.approve_with_file(fleet, "example-run-2-before-canary")
    steps.wait_for_run(fleet, "example-run-2", "Succeeded")
    assert steps.run_row(fleet, "example-run-2")["RESOURCE-SNAPSHOT-INDEX"] == "0"
    assert fleet.values() == steps.everywhere("value1")


def clean_up(fleet: Fleet) -> None:
    fleet.kubectl("delete clusterstagedupdaterun example-run example-run-2")
    assert fleet.kubectl("get clusterapprovalrequest -o name") == ""
    assert fleet.values() == steps.everywhere("value1"), "deleting a run does not roll back"
    fleet.kubectl("delete clusterstagedupdatestrategy example-strategy")
    fleet.kubectl("delete clusterresourceplacement example-placement --timeout=60s")
    assert fleet.values() == steps.NOWHERE
    fleet.kubectl("delete namespace test-namespace --timeout=60s")
