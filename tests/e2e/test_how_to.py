"""The how-to "roll out and roll back in stages" (cluster-scoped), typed as written."""

from tests.e2e import objects, steps
from tests.e2e.fleet import Fleet


def test_the_how_to_works_as_typed(fleet: Fleet) -> None:
    steps.publish(fleet)
    steps.change(fleet, "value1", "value2", index="1")
    fleet.kubectl("apply -f -", stdin=objects.HOW_TO_STRATEGY)
    roll_out_and_pause(fleet)
    resume_and_approve(fleet)
    roll_out_the_latest(fleet)
    roll_back(fleet)


def roll_out_and_pause(fleet: Fleet) -> None:
    fleet.kubectl("apply -f -", stdin=objects.run("example-run", index="1", state="Initialize"))
    steps.wait_for_run(fleet, "example-run", "Initialized")
    fleet.kubectl("""patch csur example-run --type='merge' -p '{"spec":{"state":"Run"}}'""")
    steps.wait_for_cluster(fleet, "example-run", stage=0, cluster=0)
    fleet.kubectl("""patch csur example-run --type='merge' -p '{"spec":{"state":"Stop"}}'""")
    steps.wait_for_reason(fleet, "example-run", "UpdateRunStopped")
    row = steps.run_row(fleet, "example-run")
    assert (row["INITIALIZED"], row["PROGRESSING"], row["SUCCEEDED"]) == ("True", "False", "")
    assert fleet.values() == {"member1": "", "member2": "value2", "member3": ""}


def resume_and_approve(fleet: Fleet) -> None:
    fleet.kubectl("""patch csur example-run --type='merge' -p '{"spec":{"state":"Run"}}'""")
    steps.pending_approval(fleet, "example-run-before-canary")
    steps.approve_inline(fleet, "example-run-before-canary", "approved to start canary")
    steps.pending_approval(fleet, "example-run-after-canary")
    assert fleet.values() == steps.everywhere("value2"), (
        "the gate after canary does not hold back its clusters"
    )
    assert steps.run_row(fleet, "example-run")["SUCCEEDED"] == ""
    steps.approve_inline(fleet, "example-run-after-canary", "canary successful")
    steps.wait_for_run(fleet, "example-run", "Succeeded")
    for name in ("example-run-before-canary", "example-run-after-canary"):
        assert steps.approval_row(fleet, name)["APPROVALACCEPTED"] == "True"


def roll_out_the_latest(fleet: Fleet) -> None:
    steps.change(fleet, "value2", "value3", index="2")
    manifest = objects.run("example-run-latest", index=None, state="Run")
    fleet.kubectl("apply -f -", stdin=manifest)
    steps.wait_for_run(fleet, "example-run-latest", "Initialized")
    used = "get csur example-run-latest -o jsonpath='{.status.resourceSnapshotIndexUsed}'"
    assert fleet.kubectl(used) == "2"
    approve_both(fleet, "example-run-latest")
    assert fleet.values() == steps.everywhere("value3")


def roll_back(fleet: Fleet) -> None:
    fleet.kubectl("apply -f -", stdin=objects.run("example-run-2", index="0", state="Run"))
    approve_both(fleet, "example-run-2")
    assert fleet.values() == steps.everywhere("value1")


def approve_both(fleet: Fleet, run: str) -> None:
    for side in ("before", "after"):
        steps.pending_approval(fleet, f"{run}-{side}-canary")
        steps.approve_inline(fleet, f"{run}-{side}-canary", "approved")
    steps.wait_for_run(fleet, run, "Succeeded")
