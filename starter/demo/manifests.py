"""The manifests that the tutorial applies, as a person would write them."""

from typing import Final

NAMESPACE: Final = "test-namespace"
CONFIG_MAP: Final = "test-cm"
PLACEMENT: Final = "example-placement"
STRATEGY: Final = "example-strategy"
POLICY: Final = "example-policy"

FIRST_RUN: Final = "example-run"
SECOND_RUN: Final = "example-run-v3"
ROLLBACK: Final = "example-run-back"
LIMITED_RUN: Final = "example-run-v4"
GUARDED_RUN: Final = "example-run-v5"
GUARDED_ROLLBACK: Final = f"{GUARDED_RUN}-rollback"
"""Name of the run with which the policy rolls that one back."""
RUNS: Final = (FIRST_RUN, SECOND_RUN, ROLLBACK, LIMITED_RUN, GUARDED_RUN, GUARDED_ROLLBACK)

WAIT_SECONDS: Final = 5
"""Length of the timed wait after staging; short, because someone is watching."""

PLACEMENT_MANIFEST: Final = f"""\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: {PLACEMENT}
spec:
  resourceSelectors:
  - group: ""
    kind: Namespace
    name: {NAMESPACE}
    version: v1
  policy:
    placementType: PickAll
  strategy:
    type: External
"""

STRATEGY_MANIFEST: Final = f"""\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata:
  name: {STRATEGY}
spec:
  stages:
  - name: staging
    labelSelector:
      matchLabels:
        environment: staging
    maxConcurrency: 1
    afterStageTasks:
    - type: TimedWait
      waitTime: {WAIT_SECONDS}s
  - name: canary
    labelSelector:
      matchLabels:
        environment: canary
    sortingLabelKey: order
    maxConcurrency: 50%
    beforeStageTasks:
    - type: Approval
"""

TIMEOUT_SECONDS: Final = 4
"""How long a cluster may take under the policy; short, because someone is watching."""
POLICY_MANIFEST: Final = f"""\
apiVersion: fleetgate.dev/v1alpha1
kind: ClusterRolloutPolicy
metadata:
  name: {POLICY}
spec:
  targetRefs:
  - kind: ClusterStagedUpdateStrategy
    name: {STRATEGY}
  clusters:
    timeout: {TIMEOUT_SECONDS}s
  failures:
    most: 0
    action: Pause
"""


def run_manifest(name: str, *, index: str, state: str) -> str:
    """Return the manifest of an update run for one resource snapshot."""
    return f"""\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: {name}
spec:
  placementName: {PLACEMENT}
  resourceSnapshotIndex: "{index}"
  stagedRolloutStrategyName: {STRATEGY}
  state: {state}
"""
