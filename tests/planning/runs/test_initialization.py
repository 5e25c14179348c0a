"""From facts to a plan, step by step, with the exact message of each error (update-runs 7)."""

from typing import Any

import pytest

from api.applying import ApplyStrategy, WhenToTakeOver
from api.base import NamespacedName
from api.runs import UpdateRunStatus
from api.strategies import StageTask, StageTaskType
from planning.errors import InitializationError, TransientState
from planning.identity import RunRef
from planning.overrides.matching import ClusterOverrides
from planning.runs import initialization
from planning.runs.facts import HubFacts, PlacementFact, SnapshotFacts
from tests.planning.run_samples import (
    CLUSTER_RUN,
    WAIT,
    binding,
    both_scopes,
    cluster,
    facts,
    planned,
    policy,
    stage,
    strategy,
)

INVALID = "cannot continue the updateRun: failed to validate the updateRun"
USER = f"{INVALID}: failed to process the request due to a client error: "
UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "


def placement(strategy_type: str) -> PlacementFact:
    return PlacementFact(strategy_type=strategy_type, apply_strategy=ApplyStrategy())


def pick_n(count: str | None) -> Any:
    return policy(placement_type="PickN", cluster_count=count)


def refusal(known: HubFacts, run: RunRef) -> tuple[str, UpdateRunStatus]:
    """Return the error of planning, and the status as far as it was filled."""
    status = UpdateRunStatus()
    with pytest.raises(InitializationError) as refused:
        initialization.plan(known, run=run, status=status)
    return str(refused.value), status


# -- the messages ----------------------------------------------------------------------------

TEXTS = {
    "7.1 no placement": ({"placement": None}, USER + "parent placement not found"),
    "7.1 another strategy": (
        {"placement": placement("RollingUpdate")},
        USER + "parent placement does not have an external rollout strategy, "
        "current strategy: RollingUpdate",
    ),
    "7.2 no policy snapshot": (
        {"policies": []},
        INVALID + ": no latest policy snapshot found for placement {ns}/web",
    ),
    "7.2 several policy snapshots": (
        {"policies": [policy(), policy(name="web-1")]},
        (
            f"{INVALID}: {UNEXPECTED}"
            "multiple active policy snapshots found for placement {ns}/web: got 2, want 1"
        ),
    ),
    "7.2 no policy index": (
        {"policies": [policy(index="")]},
        f"{INVALID}: {UNEXPECTED}policy snapshot `{{ns}}/web-0` does not have a policy index label",
    ),
    "7.2 no cluster count": (
        {"policies": [pick_n(None)]},
        (
            f"{INVALID}, {UNEXPECTED}"
            "cannot find annotation kubernetes-fleet.io/number-of-clusters: "
            "the policy snapshot `{ns}/web-0` doesn't have valid cluster count annotation"
        ),
    ),
    "7.2 an invalid cluster count": (
        {"policies": [pick_n("two")]},
        (
            f"{INVALID}, {UNEXPECTED}"
            "invalid annotation kubernetes-fleet.io/number-of-clusters: two is not a valid count: "
            'strconv.Atoi: parsing "two": invalid syntax: '
            "the policy snapshot `{ns}/web-0` doesn't have valid cluster count annotation"
        ),
    ),
    "7.2 not scheduled": (
        {"policies": [policy(scheduled=False)]},
        INVALID + ": policy snapshot `web-0` not fully scheduled yet",
    ),
    "7.3 no bindings": (
        {"bindings": []},
        (
            f"{INVALID}: no scheduled or to-be-deleted bindings found "
            "for the latest policy snapshot {ns}/web-0"
        ),
    ),
    "7.3 fewer bindings than picked": (
        {"policies": [pick_n("3")]},
        (
            f"{INVALID}: {UNEXPECTED}"
            "the number of selected bindings 2 is not equal to the observed cluster count 3"
        ),
    ),
    "7.3 fewer bindings than named": (
        {"policies": [policy(placement_type="PickFixed", cluster_names=1)]},
        (
            f"{INVALID}: {UNEXPECTED}"
            "the number of selected bindings 2 is not equal to the observed cluster count 1"
        ),
    ),
    "7.4 no strategy": (
        {"strategy": None},
        USER + "referenced updateStrategy not found: `{ns}/slow`",
    ),
    "7.5a tasks before": (
        {"strategy": strategy(stage(before_stage_tasks=[WAIT]))},
        USER + "the before stage tasks are invalid, updateStrategy: `{ns}/slow`, stage: prod, err: "
        "task 0 of type TimedWait is not allowed in beforeStageTasks, allowed type: Approval",
    ),
    "7.5b tasks after": (
        {"strategy": strategy(stage(after_stage_tasks=[WAIT, WAIT]))},
        USER + "the after stage tasks are invalid, updateStrategy: `{ns}/slow`, stage: prod, err: "
        "afterStageTasks cannot have two tasks of the same type: TimedWait",
    ),
    "7.5d two stages": (
        {"strategy": strategy(stage("one"), stage("two"))},
        USER + "cluster `a` appears in more than one stages",
    ),
    "7.5d no sorting label": (
        {"strategy": strategy(stage(sorting_label_key="order"))},
        USER + "the sorting label `order:` on cluster `a` is not valid: "
        'strconv.Atoi: parsing "": invalid syntax',
    ),
    "7.5 no stage": (
        {"clusters": [cluster("a"), cluster("b", "dev")]},
        USER + "some clusters are not placed in any stage, total 1, showing up to 10: b",
    ),
    "7.5 no such cluster": (
        {"clusters": [cluster("a")]},
        USER + "some clusters are not placed in any stage, total 1, showing up to 10: b",
    ),
}


@both_scopes
@pytest.mark.parametrize(("changed", "text"), TEXTS.values(), ids=list(TEXTS))
def test_each_error_has_the_contracts_message(
    run: RunRef, ns: str, changed: dict[str, Any], text: str
) -> None:
    assert refusal(facts(**changed), run)[0] == text.replace("{ns}", ns)


STEPS: list[dict[str, Any]] = [
    {"placement": None},
    {"policies": []},
    {"bindings": []},
    {"strategy": None},
    {"clusters": []},
]


@pytest.mark.parametrize("first", range(len(STEPS)))
def test_the_error_of_the_first_failing_step_is_reported(first: int) -> None:
    later = {name: value for step in STEPS[first:] for name, value in step.items()}
    assert refusal(facts(**later), CLUSTER_RUN)[0] == refusal(facts(**STEPS[first]), CLUSTER_RUN)[0]


# -- the status after an error ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "filled"),
    [
        ({"placement": None}, set()),
        ({"policies": []}, {"appliedStrategy"}),
        (
            {"policies": [policy(scheduled=False)]},
            {"appliedStrategy", "policySnapshotIndexUsed", "policyObservedClusterCount"},
        ),
        (
            {"strategy": None},
            {"appliedStrategy", "policySnapshotIndexUsed", "policyObservedClusterCount"},
        ),
        (
            {"clusters": []},
            {
                "appliedStrategy",
                "policySnapshotIndexUsed",
                "policyObservedClusterCount",
                "stagedUpdateStrategySnapshot",
                "stagesStatus",
            },
        ),
    ],
    ids=["7.1", "7.2 none", "7.2 not scheduled", "7.4", "7.5"],
)
def test_results_from_before_an_error_stay_in_the_status(
    changed: dict[str, Any], filled: set[str]
) -> None:
    _, status = refusal(facts(**changed), CLUSTER_RUN)
    assert set(status.to_wire()) == filled


def test_the_cluster_count_is_minus_one_until_the_bindings_of_pick_all_are_counted() -> None:
    _, status = refusal(facts(bindings=[]), CLUSTER_RUN)
    assert status.policy_observed_cluster_count == -1


# -- the plan --------------------------------------------------------------------------------


@both_scopes
def test_a_plan_is_complete(run: RunRef, ns: str) -> None:
    gone = binding("c", state="Unscheduled")
    status = planned(facts(bindings=[binding("a"), binding("b"), gone]), run=run)
    assert status.to_wire() == {
        "appliedStrategy": {
            "comparisonOption": "PartialComparison",
            "type": "ClientSideApply",
            "whenToApply": "Always",
            "whenToTakeOver": "Always",
        },
        "policySnapshotIndexUsed": "0",
        "policyObservedClusterCount": 2,
        "resourceSnapshotIndexUsed": "1",
        "stagedUpdateStrategySnapshot": {
            "stages": [
                {
                    "name": "prod",
                    "labelSelector": {"matchLabels": {"env": "prod"}},
                    "maxConcurrency": 1,
                }
            ]
        },
        "stagesStatus": [
            {"stageName": "prod", "clusters": [{"clusterName": "a"}, {"clusterName": "b"}]}
        ],
        "deletionStageStatus": {
            "stageName": "kubernetes-fleet.io/deleteStage",
            "clusters": [{"clusterName": "c"}],
        },
    }


def test_the_copied_strategy_has_waits_in_gos_format_and_none_on_approvals() -> None:
    hurried = StageTask(type=StageTaskType.APPROVAL, wait_time="1m")
    status = planned(facts(strategy=strategy(stage(after_stage_tasks=[WAIT, hurried]))))
    copied = status.to_wire()["stagedUpdateStrategySnapshot"]["stages"][0]
    assert copied["afterStageTasks"] == [
        {"type": "TimedWait", "waitTime": "1m30s"},
        {"type": "Approval"},
    ]


def test_a_plan_has_a_deletion_stage_even_without_clusters() -> None:
    assert planned(facts()).to_wire()["deletionStageStatus"] == {
        "stageName": "kubernetes-fleet.io/deleteStage",
        "clusters": [],
    }


def test_a_run_that_only_deletes_has_a_plan() -> None:
    status = UpdateRunStatus()
    gone = [binding("b", state="Unscheduled"), binding("a", state="Unscheduled")]
    targets = initialization.plan(facts(bindings=gone), run=CLUSTER_RUN, status=status)
    assert targets.leaving == {"a": "web-a", "b": "web-b"}
    assert status.stages_status[0].clusters == []
    assert "policyObservedClusterCount" not in status.to_wire()


@pytest.mark.parametrize(
    ("of", "state", "goes_to"),
    [
        ("web-0", "Scheduled", "selected"),
        ("web-0", "Bound", "selected"),
        ("web-0", "Unscheduled", "leaving"),
        ("old", "Unscheduled", "leaving"),
    ],
)
def test_a_binding_is_updated_or_removed_by_its_state(of: str, state: str, goes_to: str) -> None:
    known = facts(bindings=[binding("a", policy_snapshot=of, state=state)])
    targets = initialization.plan(known, run=CLUSTER_RUN, status=UpdateRunStatus())
    assert targets.model_dump() == {"selected": {}, "leaving": {}} | {goes_to: {"a": "web-a"}}


@pytest.mark.parametrize("state", ["Scheduled", "Bound"])
def test_a_binding_of_an_older_policy_snapshot_means_retry(state: str) -> None:
    known = facts(bindings=[binding("a", policy_snapshot="old", state=state)])
    with pytest.raises(TransientState) as refused:
        initialization.plan(known, run=CLUSTER_RUN, status=UpdateRunStatus())
    assert str(refused.value) == (
        f"binding `web-a` with old policy snapshot `old` has state {state}, "
        "we might observe a transient state, need retry"
    )
    with pytest.raises(TransientState):
        initialization.check_settled(known, run=CLUSTER_RUN)


@pytest.mark.parametrize(
    "changed",
    [{}, {"policies": []}, {"policies": [policy(), policy(name="web-1")]}, {"bindings": []}],
)
def test_facts_that_are_wrong_but_final_are_settled(changed: dict[str, Any]) -> None:
    initialization.check_settled(facts(**changed), run=CLUSTER_RUN)


@pytest.mark.parametrize(
    "wrong",
    [{"placement": None}, {"policies": []}, {"policies": [policy(scheduled=False)]}],
    ids=["no placement", "no policy snapshot", "policy not scheduled"],
)
def test_facts_rejected_by_an_earlier_step_are_settled_whatever_the_bindings(wrong: Any) -> None:
    known = facts(**{"bindings": [binding("a", policy_snapshot="old")], **wrong})
    initialization.check_settled(known, run=CLUSTER_RUN)


@pytest.mark.parametrize(
    ("policies", "text"),
    [
        ([], "placement `/web` has no policy snapshot yet"),
        (
            [policy(scheduled=False, looked_at=False)],
            "the scheduler has not processed policy snapshot `/web-0` yet",
        ),
    ],
)
def test_a_placement_that_is_not_scheduled_yet_means_retry(policies: list[Any], text: str) -> None:
    with pytest.raises(TransientState, match=text):
        initialization.check_looked_at(facts(policies=policies), run=CLUSTER_RUN)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"policies": [policy(scheduled=False)]},
        {"policies": [], "placement": None},
        {"policies": [], "placement": placement("RollingUpdate")},
    ],
)
def test_a_decided_placement_is_not_waited_for(changed: dict[str, Any]) -> None:
    initialization.check_looked_at(facts(**changed), run=CLUSTER_RUN)


@pytest.mark.parametrize(
    ("of", "count"),
    [
        (policy(), 2),
        (policy(placement_type="PickFixed", cluster_names=2), 2),
        (pick_n("2"), 2),
        (pick_n("+2"), 2),
    ],
    ids=["PickAll", "PickFixed", "PickN", "PickN as Go reads it"],
)
def test_the_policy_type_decides_how_clusters_are_counted(of: Any, count: int) -> None:
    assert planned(facts(policies=[of])).policy_observed_cluster_count == count


@pytest.mark.parametrize("count", ["-1", "", " 2", "9" * 20, "9" * 5000])
def test_an_invalid_cluster_count_is_rejected(count: str) -> None:
    text, _ = refusal(facts(policies=[pick_n(count)]), CLUSTER_RUN)
    assert f"{count} is not a valid count: " in text


def test_the_apply_strategy_of_the_placement_is_copied() -> None:
    careful = ApplyStrategy(when_to_take_over=WhenToTakeOver.NEVER)
    known = PlacementFact(strategy_type="External", apply_strategy=careful)
    assert planned(facts(placement=known)).applied_strategy == careful


# -- the resource snapshot -------------------------------------------------------------------


@pytest.mark.parametrize(("index", "number"), [("0", 0), ("12", 12), ("+0", 0), ("007", 7)])
def test_an_index_is_parsed_as_in_go(index: str, number: int) -> None:
    assert initialization.check_index(index) == number


@pytest.mark.parametrize(
    "index", ["", "x", "-1", " 0", "1_0", "0.0", "\u0660", "9223372036854775808", "9" * 5000]
)
def test_an_invalid_index_is_rejected(index: str) -> None:
    with pytest.raises(InitializationError) as refused:
        initialization.check_index(index)
    assert str(refused.value) == (
        USER + f"invalid resource snapshot index `{index}` provided, expected an integer >= 0"
    )


@both_scopes
def test_an_index_that_no_snapshot_has_is_named_as_a_number(run: RunRef, ns: str) -> None:
    error = initialization.snapshot_missing("+07", placement=run.key("web"))
    assert str(error) == (
        USER + f"no resourceSnapshots with index `7` found for placement `{ns}/web`"
    )


@both_scopes
def test_a_snapshot_without_its_master_is_an_unexpected_error(run: RunRef, ns: str) -> None:
    error = initialization.master_missing(placement=run.key("web"))
    assert str(error) == (
        f"{INVALID}: {UNEXPECTED}no master resourceSnapshot found for placement {ns}/web"
    )


def test_overrides_are_recorded_with_the_clusters_they_apply_to() -> None:
    status = planned(
        facts(bindings=[binding("a"), binding("b"), binding("c", state="Unscheduled")])
    )
    of_namespace = NamespacedName(name="two", namespace="team")
    snapshot = SnapshotFacts(
        index="3",
        name="web-3-snapshot",
        overrides=[
            ClusterOverrides(cluster="a", cluster_resource=["one"]),
            ClusterOverrides(cluster="b", cluster_resource=["one"], resource=[of_namespace]),
            ClusterOverrides(cluster="c", cluster_resource=["one"]),
        ],
    )
    initialization.record_snapshot(snapshot, status=status)
    wire = status.to_wire()
    assert wire["resourceSnapshotIndexUsed"] == "3"
    assert wire["stagesStatus"][0]["clusters"] == [
        {"clusterName": "a", "clusterResourceOverrideSnapshots": ["one"]},
        {
            "clusterName": "b",
            "clusterResourceOverrideSnapshots": ["one"],
            "resourceOverrideSnapshots": [{"name": "two", "namespace": "team"}],
        },
    ]
    assert wire["deletionStageStatus"]["clusters"] == [{"clusterName": "c"}]
