"""The objects of the user documents, unchanged except for shorter waits."""

WAIT_SECONDS = 3

PLACEMENT = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: example-placement
spec:
  resourceSelectors:
    - group: ""
      kind: Namespace
      name: test-namespace
      version: v1
  policy:
    placementType: PickAll
  strategy:
    type: External
"""

TUTORIAL_STRATEGY = f"""
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata:
  name: example-strategy
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
kind: ClusterStagedUpdateStrategy
metadata:
  name: example-strategy
spec:
  stages:
    - name: staging
      labelSelector:
        matchLabels:
          environment: staging
      maxConcurrency: 1  # Update clusters sequentially in staging
      afterStageTasks:
        - type: TimedWait
          waitTime: {WAIT_SECONDS}s
    - name: canary
      labelSelector:
        matchLabels:
          environment: canary
      sortingLabelKey: order
      maxConcurrency: 2  # Update 2 canary clusters concurrently
      beforeStageTasks:
        - type: Approval  # Require approval before starting canary
      afterStageTasks:
        - type: Approval  # Require approval after canary completes
"""

UNGATED_STRATEGY = """
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata:
  name: example-strategy
spec:
  stages:
    - name: all
      labelSelector: {}
      maxConcurrency: 2
"""
GATED_STRATEGY = f"""{UNGATED_STRATEGY.rstrip()}
      beforeStageTasks:
        - type: Approval
"""


def run(name: str, *, index: str | None, state: str) -> str:
    """Return a ClusterStagedUpdateRun of example-placement; an index of None is omitted."""
    line = (
        "# resourceSnapshotIndex omitted" if index is None else f'resourceSnapshotIndex: "{index}"'
    )
    return f"""
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: {name}
spec:
  placementName: example-placement
  {line}
  stagedRolloutStrategyName: example-strategy
  state: {state}
"""
