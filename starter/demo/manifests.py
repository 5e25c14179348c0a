"""The manifests that the tutorial applies, as a person would write them."""

from typing import Final

NAMESPACE: Final = "test-namespace"
CONFIG_MAP: Final = "test-cm"
PLACEMENT: Final = "example-placement"
STRATEGY: Final = "example-strategy"

FIRST_RUN: Final = "example-run"
SECOND_RUN: Final = "example-run-v3"
ROLLBACK: Final = "example-run-back"
RUNS: Final = (FIRST_RUN, SECOND_RUN, ROLLBACK)

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
