"""Objects and steps that the namespaced parts of the user documents share."""

from dataclasses import dataclass

from tests.e2e.fleet import Fleet, rows
from tests.e2e.objects import WAIT_SECONDS
from tests.e2e.steps import RUN_COLUMNS


def namespace_placement(name: str, namespace: str) -> str:
    """Return a placement of only a namespace, without a strategy: it rolls out by itself."""
    return f"""
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: {name}
spec:
  resourceSelectors:
    - group: ""
      kind: Namespace
      name: {namespace}
      version: v1
      selectionScope: NamespaceOnly
  policy:
    placementType: PickAll
"""


CONFIG_MAP_PLACEMENT = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourcePlacement
metadata:
  name: example-placement
  namespace: test-namespace
spec:
  resourceSelectors:
    - group: ""
      kind: ConfigMap
      name: test-cm
      version: v1
  policy:
    placementType: PickAll
  strategy:
    type: External
"""

WEB_APP_PLACEMENT = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourcePlacement
metadata:
  name: web-app-placement
  namespace: my-app-namespace
spec:
  resourceSelectors:
    - group: "apps"
      kind: Deployment
      name: web-app
      version: v1
    - group: ""
      kind: Service
      name: web-app
      version: v1
  policy:
    placementType: PickAll
  strategy:
    type: External # enables namespace-scoped staged updates
"""

TUTORIAL_STRATEGY = f"""
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: StagedUpdateStrategy
metadata:
  name: example-strategy
  namespace: test-namespace
spec:
  stages:
    - name: staging
      labelSelector:
        matchLabels:
          environment: staging
      afterStageTasks:
        - type: TimedWait
          waitTime: {WAIT_SECONDS}s
      maxConcurrency: 1
    - name: canary
      labelSelector:
        matchLabels:
          environment: canary
      sortingLabelKey: order
      beforeStageTasks:
        - type: Approval
      maxConcurrency: 50%
"""

HOW_TO_STRATEGY = f"""
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: StagedUpdateStrategy
metadata:
  name: app-rollout-strategy
  namespace: my-app-namespace
spec:
  stages:
    - name: dev-clusters
      labelSelector:
        matchLabels:
          environment: staging
      maxConcurrency: 2  # Update 2 dev clusters concurrently
      afterStageTasks:
        - type: TimedWait
          waitTime: {WAIT_SECONDS}s
    - name: prod-clusters
      labelSelector:
        matchLabels:
          environment: canary
      sortingLabelKey: order
      maxConcurrency: 1  # Sequential production updates
      beforeStageTasks:
        - type: Approval  # Require approval before production
      afterStageTasks:
        - type: Approval  # Require approval after production
"""


@dataclass(frozen=True)
class Person:
    """A user of kubectl in one namespace of the hub."""

    fleet: Fleet
    namespace: str
    login: str = ""
    """kubectl's flags for this user; empty for the fleet's administrator."""

    def kubectl(self, command: str, *, stdin: str = "", fails: bool = False) -> str:
        """Run `kubectl … -n NAMESPACE`."""
        typed = f"{command} -n {self.namespace} {self.login}"
        return self.fleet.kubectl(typed, stdin=stdin, fails=fails)

    def apply(self, manifest: str) -> None:
        """Run `kubectl apply -f -`."""
        self.kubectl("apply -f -", stdin=manifest)

    def run(self, name: str, *, placement: str, strategy: str, index: str, state: str) -> None:
        """Create a StagedUpdateRun."""
        self.apply(f"""
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: StagedUpdateRun
metadata:
  name: {name}
  namespace: {self.namespace}
spec:
  placementName: {placement}
  resourceSnapshotIndex: "{index}"
  stagedRolloutStrategyName: {strategy}
  state: {state}
""")

    def wait_for_placement(self, name: str, condition: str) -> dict[str, str]:
        """Wait for a condition of a ResourcePlacement; return its row without the age."""
        said = f"condition=ResourcePlacement{condition}"
        self.kubectl(f"wait resourceplacement {name} --for={said} --timeout=60s")
        (row,) = rows(self.kubectl(f"get resourceplacement {name}"))
        assert row.pop("AGE")
        return row

    def wait_for_snapshot(self, placement: str, index: str) -> None:
        """Wait until the snapshot is the latest one."""
        name = f"{placement}-{index}-snapshot"
        self.kubectl(f"wait resourcesnapshots {name} --for=create --timeout=30s")
        label = r"{.metadata.labels.kubernetes-fleet\.io/is-latest-snapshot}=true"
        self.kubectl(f"wait resourcesnapshots {name} --for=jsonpath='{label}' --timeout=30s")
        listed = rows(self.kubectl("get resourcesnapshots --show-labels"))
        latest = [each for each in listed if "is-latest-snapshot=true" in each["LABELS"]]
        assert [each["NAME"] for each in latest] == [name]
        assert f"kubernetes-fleet.io/resource-index={index}" in latest[0]["LABELS"]

    def wait_for_run(self, name: str, condition: str) -> dict[str, str]:
        """Wait for a condition of a run; return its row without the age."""
        self.kubectl(f"wait stagedupdaterun {name} --for=condition={condition} --timeout=120s")
        (row,) = rows(self.kubectl(f"get stagedupdaterun {name}"))
        assert list(row) == RUN_COLUMNS
        assert row.pop("AGE")
        return row

    def pending_approval(self, name: str) -> dict[str, str]:
        """Wait for an approval request; return its row without the age."""
        self.kubectl(f"wait approvalrequests {name} --for=create --timeout=120s")
        return self.approval(name)

    def approval(self, name: str) -> dict[str, str]:
        """Return the row of an approval request, without its age."""
        found = rows(self.kubectl("get approvalrequests"))
        row = next(each for each in found if each["NAME"] == name)
        assert row.pop("AGE")
        return row

    def approve(self, name: str, message: str) -> None:
        """Approve with `kubectl patch -p`, with the time filled in by the shell."""
        condition = (
            '{"type":"Approved","status":"True","reason":"approved","message":"'
            + message
            + '","lastTransitionTime":"\'$(date -u +%Y-%m-%dT%H:%M:%SZ)\'","observedGeneration":1}'
        )
        patch = '{"status":{"conditions":[' + condition + "]}}"
        self.fleet.shell(
            f"kubectl patch approvalrequests {name} -n {self.namespace} {self.login} "
            f"--type='merge' -p '{patch}' --subresource=status"
        )
