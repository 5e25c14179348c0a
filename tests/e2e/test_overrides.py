"""Content that differs by member: overrides and envelopes, rolled out by a run."""

from api.kinds import CLUSTER_RESOURCE_PLACEMENT, CLUSTER_STAGED_UPDATE_RUN, CONFIG_MAP
from hub import Json
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
MEMBERS = {"member1": "canary", "member2": "staging", "member3": "canary"}


def config_map(fleet: Fleet, name: str, member: str) -> Json:
    found = fleet.clients.find(CONFIG_MAP, name, namespace="test-namespace", on=member)
    assert found is not None
    return found


def test_a_run_brings_each_member_its_own_content(fleet: Fleet) -> None:
    """Apply placement, strategy and run in one file: the run waits until its placement is ready."""
    fleet.kubectl("create ns test-namespace")
    fleet.kubectl("create cm test-cm --from-literal=key=value1 -n test-namespace")
    fleet.kubectl("apply -f -", stdin="---".join((ENVELOPE, NAMED_BY_MEMBER, NOTED_IN_CANARY)))
    fleet.kubectl("wait clusterresourceoverridesnapshots note-0 --for=create --timeout=30s")
    run = objects.run("example-run", index=None, state="Run")
    file = "---".join((objects.PLACEMENT, objects.UNGATED_STRATEGY, run))
    fleet.kubectl("apply -f -", stdin=file)
    steps.wait_for_run(fleet, "example-run", "Succeeded")

    for member, environment in MEMBERS.items():
        where = f"{environment}/{member}"
        content = config_map(fleet, "test-cm", member)
        assert content["data"] == {"key": "value1", "where": where}
        assert content["metadata"].get("labels") == (
            {"note": "canary"} if environment == "canary" else None
        )
        assert config_map(fleet, "wrapped", member)["data"] == {"where": where}
    found = fleet.clients.find(CLUSTER_STAGED_UPDATE_RUN, "example-run")
    assert found is not None
    clusters = [each for stage in found["status"]["stagesStatus"] for each in stage["clusters"]]
    field = "clusterResourceOverrideSnapshots"
    noted = {each["clusterName"] for each in clusters if each.get(field) == ["note-0"]}
    assert noted == {"member1", "member3"}
    # The placement's status follows the run's.
    kinds = ["Namespace", "ConfigMap", "ResourceEnvelope"]
    fleet.until(lambda: selected_kinds(fleet) == kinds, f"the placement lists {kinds}")


def selected_kinds(fleet: Fleet) -> list[str]:
    placement = fleet.clients.find(CLUSTER_RESOURCE_PLACEMENT, "example-placement")
    assert placement is not None
    return [each["kind"] for each in placement["status"].get("selectedResources", [])]
