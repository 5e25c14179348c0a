"""Further attempts at a cluster, on real servers (policies: 2.1, 2.2, 3)."""

import pytest

from api import names
from api.rollout_decisions import Decision
from hub import Json
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started

pytestmark = pytest.mark.usefixtures("engine")


async def policy(placement: HandPlacement, strategy: str, stage: str, **spec: object) -> None:
    target = {"kind": placement.scope.strategy.kind, "name": strategy, "stages": [stage]}
    await placement.write(
        placement.scope.policy, strategy, {"spec": {"targetRefs": [target], **spec}}
    )


async def decide(placement: HandPlacement, run: str, decision: Decision, cluster: str) -> Json:
    """Make a decision as with kubectl, and return it once it is answered."""
    kind, name = placement.scope.decision, f"{run}-{cluster}-{decision}".lower()
    spec = {"run": run, "decision": decision, "cluster": cluster, "reason": "INC-7"}
    await placement.write(kind, name, {"spec": spec})
    return await eventually(
        lambda: placement.hub.get(kind, name, namespace=placement.namespace),
        lambda seen: bool(seen.get("status", {}).get("state")),
    )


async def test_a_cluster_is_tried_again_given_up_and_retried_at_the_end(
    placement: HandPlacement, unique: str
) -> None:
    slow, last = f"{unique}-a", f"{unique}-b"
    await placement.create({slow: {"stage": "one"}, last: {"stage": "two"}}, versions=2)
    await placement.hub.patch(
        placement.scope.binding,
        placement.binding_name(slow),
        {"spec": {"resourceSnapshotName": placement.snapshot_name(0)}},
        namespace=placement.namespace,
    )
    stages = [
        {"name": name, "labelSelector": {"matchLabels": {"stage": name}}} for name in ("one", "two")
    ]
    await placement.strategy(unique, stages)
    limits = {"timeout": "2s", "retries": 1}
    await policy(placement, unique, "one", clusters=limits, failures={"most": "100%"})
    await placement.create_run(unique, unique, index="1")
    await started(placement, slow, index=1)

    tried = await eventually(
        lambda: placement.read_binding(slow),
        lambda seen: names.APPLY_AGAIN in seen["metadata"].get("annotations", {}),
    )
    first = tried["metadata"]["annotations"][names.APPLY_AGAIN]
    await started(placement, last, index=1)
    assert names.APPLY_AGAIN not in (await placement.read_binding(last))["metadata"].get(
        "annotations", {}
    )
    answer = await decide(placement, unique, Decision.RETRY_CLUSTER, slow)
    assert "after the last stage" in answer["status"]["message"]
    await placement.report(last)
    await eventually(
        lambda: placement.read_binding(slow),
        lambda seen: seen["metadata"]["annotations"][names.APPLY_AGAIN] != first,
    )
    await placement.report(slow)
    ended = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    assert says(ended, "Succeeded")[0] == "True"
    # The report is written beside the status.
    report = await eventually(
        lambda: placement.hub.get(placement.scope.report, unique, namespace=placement.namespace),
        lambda seen: _listed(seen, slow)["outcome"] == "Recovered",
    )
    assert _listed(report, slow)["previousIndex"] == "0"


def _listed(report: Json, cluster: str) -> Json:
    (found,) = [each for each in report["status"]["clusters"] if each["name"] == cluster]
    return dict(found)
