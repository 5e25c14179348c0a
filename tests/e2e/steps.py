"""Steps that the user documents share, with the output that they promise."""

from tests.e2e import objects
from tests.e2e.fleet import Fleet, rows

RUN_COLUMNS = [
    "NAME",
    "PLACEMENT",
    "RESOURCE-SNAPSHOT-INDEX",
    "POLICY-SNAPSHOT-INDEX",
    "INITIALIZED",
    "PROGRESSING",
    "SUCCEEDED",
    "AGE",
]
NOWHERE = {"member1": "", "member2": "", "member3": ""}


def everywhere(value: str) -> dict[str, str]:
    return dict.fromkeys(NOWHERE, value)


def publish(fleet: Fleet) -> None:
    """Create the content and the placement: it is scheduled, with nothing on the members."""
    fleet.kubectl("create ns test-namespace")
    fleet.kubectl("create cm test-cm --from-literal=key=value1 -n test-namespace")
    fleet.kubectl("apply -f -", stdin=objects.PLACEMENT)
    scheduled = "condition=ClusterResourcePlacementScheduled"
    fleet.kubectl(f"wait crp example-placement --for={scheduled} --timeout=30s")
    (placement,) = rows(fleet.kubectl("get clusterresourceplacement example-placement"))
    assert placement.pop("AGE")
    assert placement == {
        "NAME": "example-placement",
        "GEN": "1",
        "SCHEDULED": "True",
        "SCHEDULED-GEN": "1",
        "AVAILABLE": "",
        "AVAILABLE-GEN": "",
    }
    snapshot = wait_for_snapshot(fleet, "0")
    assert "kubernetes-fleet.io/parent-CRP=example-placement" in snapshot["LABELS"]
    assert fleet.values() == NOWHERE


def change(fleet: Fleet, old: str, new: str, *, index: str) -> None:
    """Edit the ConfigMap: a new snapshot becomes the latest, and nothing is rolled out."""
    before = fleet.values()
    editor = f"sed -i s/{old}/{new}/"
    fleet.shell(f"KUBE_EDITOR='{editor}' kubectl edit configmap test-cm -n test-namespace")
    wait_for_snapshot(fleet, index)
    path = "{.spec.selectedResources[?(@.kind=='ConfigMap')].data.key}"
    name = f"example-placement-{index}-snapshot"
    kept = fleet.kubectl(f'get clusterresourcesnapshots {name} -o jsonpath="{path}"')
    assert kept == new
    assert fleet.values() == before


def wait_for_snapshot(fleet: Fleet, index: str) -> dict[str, str]:
    """Wait until the snapshot is the latest one; return its row with labels."""
    name = f"example-placement-{index}-snapshot"
    kind = "clusterresourcesnapshots"
    fleet.kubectl(f"wait {kind} {name} --for=create --timeout=30s")
    label = r"{.metadata.labels.kubernetes-fleet\.io/is-latest-snapshot}=true"
    fleet.kubectl(f"wait {kind} {name} --for=jsonpath='{label}' --timeout=30s")
    listed = {each["NAME"]: each for each in rows(fleet.kubectl(f"get {kind} --show-labels"))}
    latest = [name for name, each in listed.items() if "is-latest-snapshot=true" in each["LABELS"]]
    assert latest == [name]
    return listed[name]


def wait_for_run(fleet: Fleet, name: str, condition: str) -> None:
    """Wait for a condition of the run, such as `Succeeded` or `Progressing=False`."""
    fleet.kubectl(f"wait csur {name} --for=condition={condition} --timeout=60s")


def wait_for_cluster(fleet: Fleet, run: str, *, stage: int, cluster: int) -> None:
    """Wait until the run is done with one cluster."""
    where = f".status.stagesStatus[{stage}].clusters[{cluster}]"
    path = f'{{{where}.conditions[?(@.type=="Succeeded")].status}}'
    fleet.kubectl(f"wait csur {run} --for=jsonpath='{path}'=True --timeout=60s")


def wait_for_reason(fleet: Fleet, run: str, reason: str) -> None:
    """Wait until Progressing has the reason."""
    path = '{.status.conditions[?(@.type=="Progressing")].reason}'
    fleet.kubectl(f"wait csur {run} --for=jsonpath='{path}'={reason} --timeout=60s")


def run_row(fleet: Fleet, name: str) -> dict[str, str]:
    """Return the run's row in `kubectl get`, without its age."""
    (row,) = rows(fleet.kubectl(f"get clusterstagedupdaterun {name}"))
    assert list(row) == RUN_COLUMNS
    assert row.pop("AGE")
    return row


def pending_approval(fleet: Fleet, name: str) -> dict[str, str]:
    """Wait for an approval request; return its row without the age."""
    fleet.kubectl(f"wait careq {name} --for=create --timeout=60s")
    return approval_row(fleet, name)


def approval_row(fleet: Fleet, name: str) -> dict[str, str]:
    """Return the row of an approval request, without its age."""
    found = rows(fleet.kubectl("get clusterapprovalrequest"))
    row = next(each for each in found if each["NAME"] == name)
    assert row.pop("AGE")
    return row


def approve_inline(fleet: Fleet, name: str, message: str) -> None:
    """Approve with `kubectl patch -p`, with the time filled in by the shell."""
    condition = (
        '{"type":"Approved","status":"True","reason":"lgtm","message":"'
        + message
        + '","lastTransitionTime":"\'$(date -u +%Y-%m-%dT%H:%M:%SZ)\'","observedGeneration":1}'
    )
    patch = '{"status":{"conditions":[' + condition + "]}}"
    fleet.shell(
        f"kubectl patch clusterapprovalrequests {name} --type=merge -p '{patch}' "
        "--subresource=status"
    )


def write_approval_file(fleet: Fleet) -> None:
    """Write approval.json exactly as the documents do, without the braces around it."""
    fleet.shell(
        """cat << EOF > approval.json
"status": {
  "conditions": [
    {
      "lastTransitionTime": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
      "message": "lgtm",
      "observedGeneration": 1,
      "reason": "testPassed",
      "status": "True",
      "type": "Approved"
    }
  ]
}
EOF"""
    )


def approve_with_file(fleet: Fleet, name: str) -> None:
    """Approve with the file."""
    fleet.kubectl(
        f"patch clusterapprovalrequests {name} --type='merge' --subresource=status "
        "--patch-file approval.json"
    )
