"""Members that get something of their own: overrides and envelopes, with a run on top."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e import objects, steps
from tests.e2e.fleet import Fleet

ENVELOPE = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata:
  name: box
  namespace: test-namespace
data:
  wrapped.yaml:
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: wrapped
      namespace: test-namespace
    data:
      where: hub
"""
NAMED_BY_MEMBER = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceOverride
metadata:
  name: named
  namespace: test-namespace
spec:
  resourceSelectors:
    - {group: "", version: v1, kind: ConfigMap, name: test-cm}
    - {group: "", version: v1, kind: ConfigMap, name: wrapped}
  policy:
    overrideRules:
      - clusterSelector:
          clusterSelectorTerms: []
        jsonPatchOverrides:
          - op: add
            path: /data/where
            value: ${MEMBER-CLUSTER-LABEL-KEY-environment}/${MEMBER-CLUSTER-NAME}
"""
NOTED_IN_CANARY = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceOverride
metadata:
  name: note
spec:
  placement:
    name: example-placement
  clusterResourceSelectors:
    - {group: "", version: v1, kind: Namespace, name: test-namespace}
  policy:
    overrideRules:
      - clusterSelector:
          clusterSelectorTerms:
            - labelSelector:
                matchLabels:
                  environment: canary
        jsonPatchOverrides:
          - op: add
            path: /metadata/labels
            value: {note: canary}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: test-namespace
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: example.com/web:1
"""
BAD_IMAGE = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceOverride
metadata:
  name: bad-image
  namespace: test-namespace
spec:
  resourceSelectors:
    - {group: apps, version: v1, kind: Deployment, name: web}
  policy:
    overrideRules:
      - clusterSelector:
          clusterSelectorTerms:
            - labelSelector:
                matchLabels:
                  kubernetes-fleet.io/member-name: member2
        jsonPatchOverrides:
          - op: replace
            path: /spec/template/spec/containers/0/image
            value: example.com/web:bad
"""
MEMBERS = {"member1": "canary", "member2": "staging", "member3": "canary"}


@pytest.fixture
def placed(fleet: Fleet) -> Iterator[Fleet]:
    """A fleet whose cluster-scoped overrides go after the test, as the others do anyway."""
    yield fleet
    fleet.kubectl("delete clusterresourceoverrides --all --timeout=60s")


def config_map(fleet: Fleet, name: str, member: str) -> Any:
    return json.loads(fleet.kubectl(f"get cm {name} -n test-namespace -o json", on=member))


def test_a_run_brings_each_member_what_is_meant_for_it(placed: Fleet) -> None:
    placed.kubectl("create ns test-namespace")
    placed.kubectl("create cm test-cm --from-literal=key=value1 -n test-namespace")
    for manifest in (ENVELOPE, NAMED_BY_MEMBER, NOTED_IN_CANARY):
        placed.kubectl("apply -f -", stdin=manifest)
    placed.kubectl("wait clusterresourceoverridesnapshots note-0 --for=create --timeout=30s")
    placed.kubectl("apply -f -", stdin=objects.PLACEMENT)
    placed.kubectl("apply -f -", stdin=objects.UNGATED_STRATEGY)

    placed.kubectl("apply -f -", stdin=objects.run("example-run", index=None, state="Run"))
    steps.wait_for_run(placed, "example-run", "Succeeded")

    for member, environment in MEMBERS.items():
        where = f"{environment}/{member}"
        content = config_map(placed, "test-cm", member)
        assert content["data"] == {"key": "value1", "where": where}
        assert content["metadata"].get("labels") == (
            {"note": "canary"} if environment == "canary" else None
        )
        assert config_map(placed, "wrapped", member)["data"] == {"where": where}
    run = json.loads(placed.kubectl("get csur example-run -o json"))
    clusters = [each for stage in run["status"]["stagesStatus"] for each in stage["clusters"]]
    field = "clusterResourceOverrideSnapshots"
    noted = {each["clusterName"] for each in clusters if each.get(field) == ["note-0"]}
    assert noted == {"member1", "member3"}
    placement = json.loads(placed.kubectl("get crp example-placement -o json"))
    kinds = [each["kind"] for each in placement["status"]["selectedResources"]]
    assert kinds == ["Namespace", "ConfigMap", "ResourceEnvelope"]


def test_a_bad_image_on_one_member_shows_in_the_placement(placed: Fleet) -> None:
    placed.kubectl("create ns test-namespace")
    for manifest in (DEPLOYMENT, BAD_IMAGE):
        placed.kubectl("apply -f -", stdin=manifest)
    snapshot = "resourceoverridesnapshots bad-image-0 -n test-namespace"
    placed.kubectl(f"wait {snapshot} --for=create --timeout=30s")
    rolling = objects.PLACEMENT.replace("External", "RollingUpdate")

    placed.kubectl("apply -f -", stdin=rolling)

    message = '{.status.conditions[?(@.type=="ClusterResourcePlacementAvailable")].message}'
    one = "The selected resources in 1 cluster(s) are still not available yet"
    placed.kubectl(f"wait crp example-placement --for=jsonpath='{message}'='{one}' --timeout=60s")
    status = json.loads(placed.kubectl("get crp example-placement -o json"))["status"]
    failed = {
        each["clusterName"]: [one["name"] for one in each.get("failedPlacements", [])]
        for each in status["placementStatuses"]
    }
    assert failed == {"member1": [], "member2": ["web"], "member3": []}
    described = placed.kubectl("describe crp example-placement")
    assert "Manifest is not yet available; Fleet will check again later" in described
    assert "PlacementApplied" in described, "the events are below"
