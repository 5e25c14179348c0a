"""Assigning every picked cluster to one stage (contract: update-runs 7.5)."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.runs import StageStatus
from api.selectors import LabelSelector, LabelSelectorRequirement
from api.strategies import Stage
from planning.errors import InitializationError
from planning.runs import stages
from planning.runs.facts import ClusterFact
from tests.planning.run_samples import APPROVAL, WAIT, cluster, stage, strategy

USER = (
    "cannot continue the updateRun: failed to validate the updateRun: "
    "failed to process the request due to a client error: "
)


def assign(
    declared: list[Stage], clusters: list[ClusterFact], selected: list[str] | None = None
) -> list[StageStatus]:
    """Assign clusters to stages, by default all clusters."""
    return stages.assign(
        strategy(*declared),
        run="v2",
        reference="/slow",
        clusters=clusters,
        selected=[each.name for each in clusters] if selected is None else selected,
    )


def names(status: StageStatus) -> list[str]:
    return [each.cluster_name for each in status.clusters]


def refusal(declared: list[Stage], clusters: list[ClusterFact]) -> str:
    with pytest.raises(InitializationError) as refused:
        assign(declared, clusters)
    return str(refused.value).removeprefix(USER)


# -- membership ------------------------------------------------------------------------------


def test_clusters_are_assigned_to_the_stage_that_selects_them_ordered_by_name() -> None:
    found = assign(
        [stage("canary", "dev"), stage("prod", "prod")],
        [cluster("b"), cluster("c", "dev"), cluster("a")],
    )
    assert [(each.stage_name, names(each)) for each in found] == [
        ("canary", ["c"]),
        ("prod", ["a", "b"]),
    ]


def test_clusters_that_the_placement_did_not_pick_are_in_no_stage() -> None:
    (found,) = assign([stage()], [cluster("a"), cluster("b")], selected=["b"])
    assert names(found) == ["b"]


def test_a_stage_without_selector_is_empty_and_one_with_an_empty_selector_has_all() -> None:
    declared = [
        stage("none", label_selector=None),
        stage("all", label_selector=LabelSelector()),
    ]
    none, everything = assign(declared, [cluster("a"), cluster("b", "dev")])
    assert names(none) == []
    assert names(everything) == ["a", "b"]


def test_a_stage_without_clusters_is_written_with_an_empty_list() -> None:
    (found,) = assign([stage()], [])
    assert found.to_wire() == {"stageName": "prod", "clusters": []}


def test_a_cluster_in_two_stages_is_rejected() -> None:
    both = [stage("one"), stage("two")]
    assert refusal(both, [cluster("a")]) == "cluster `a` appears in more than one stages"


def test_stages_with_the_same_name_are_distinguished_by_position() -> None:
    first, second = assign([stage("x", "dev"), stage("x")], [cluster("a", "dev"), cluster("b")])
    assert (names(first), names(second)) == (["a"], ["b"])


# -- order -----------------------------------------------------------------------------------


def test_clusters_are_sorted_by_the_label_number_and_ties_by_name() -> None:
    clusters = [
        cluster("a", order="10"),
        cluster("b", order="9"),
        cluster("d", order="-1"),
        cluster("c", order="9"),
        cluster("e", order="+2"),
    ]
    (found,) = assign([stage(sorting_label_key="order")], clusters)
    assert names(found) == ["d", "e", "b", "c", "a"]


@pytest.mark.parametrize("value", ["", "x", "1_0", "1.5", "0x1", "\u00b2"])
def test_a_sorting_label_that_is_not_a_number_is_rejected(value: str) -> None:
    declared = [stage(sorting_label_key="order")]
    assert refusal(declared, [cluster("a", order="1"), cluster("b", order=value)]) == (
        f"the sorting label `order:{value}` on cluster `b` is not valid: "
        f'strconv.Atoi: parsing "{value}": invalid syntax'
    )


def test_a_cluster_without_the_sorting_label_counts_as_one_with_an_empty_label() -> None:
    assert refusal([stage(sorting_label_key="order")], [cluster("a")]) == (
        "the sorting label `order:` on cluster `a` is not valid: "
        'strconv.Atoi: parsing "": invalid syntax'
    )


def test_a_sorting_label_beyond_64_bits_is_rejected() -> None:
    assert refusal([stage(sorting_label_key="order")], [cluster("a", order="9" * 20)]) == (
        f"the sorting label `order:{'9' * 20}` on cluster `a` is not valid: "
        f'strconv.Atoi: parsing "{"9" * 20}": value out of range'
    )


# -- gates and selectors ---------------------------------------------------------------------


def test_a_stage_lists_its_gates_with_the_names_of_their_approvals() -> None:
    declared = stage(before_stage_tasks=[APPROVAL], after_stage_tasks=[WAIT, APPROVAL])
    (found,) = assign([declared], [])
    assert found.to_wire()["beforeStageTaskStatus"] == [
        {"type": "Approval", "approvalRequestName": "v2-before-prod"}
    ]
    assert found.to_wire()["afterStageTaskStatus"] == [
        {"type": "TimedWait"},
        {"type": "Approval", "approvalRequestName": "v2-after-prod"},
    ]


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (
            stage(before_stage_tasks=[WAIT]),
            (
                "the before stage tasks are invalid, updateStrategy: `/slow`, stage: prod, err: "
                "task 0 of type TimedWait is not allowed in beforeStageTasks, "
                "allowed type: Approval"
            ),
        ),
        (
            stage(after_stage_tasks=[WAIT, WAIT]),
            (
                "the after stage tasks are invalid, updateStrategy: `/slow`, stage: prod, err: "
                "afterStageTasks cannot have two tasks of the same type: TimedWait"
            ),
        ),
        (
            stage(
                label_selector=LabelSelector(
                    match_expressions=[LabelSelectorRequirement(key="env", operator="Near")]
                )
            ),
            (
                "the stage label selector is invalid, updateStrategy: `/slow`, stage: prod, err: "
                '"Near" is not a valid label selector operator'
            ),
        ),
    ],
    ids=["before", "after", "selector"],
)
def test_an_invalid_stage_is_rejected_with_strategy_stage_and_reason(
    declared: Stage, text: str
) -> None:
    assert refusal([declared], [cluster("a")]) == text


# -- completeness ----------------------------------------------------------------------------


def test_a_plan_with_all_clusters_in_stages_is_complete() -> None:
    stages.check_complete(assign([stage()], [cluster("a")]), ["a"])


def test_clusters_in_no_stage_are_counted_and_named() -> None:
    found = assign([stage()], [cluster("a")])
    with pytest.raises(InitializationError) as refused:
        stages.check_complete(found, ["c", "a", "b"])
    assert str(refused.value) == (
        USER + "some clusters are not placed in any stage, total 2, showing up to 10: b, c"
    )


def test_ten_of_many_clusters_in_no_stage_are_named() -> None:
    with pytest.raises(InitializationError) as refused:
        stages.check_complete([], [f"c{number:02}" for number in range(12)])
    assert str(refused.value).endswith(
        "total 12, showing up to 10: c00, c01, c02, c03, c04, c05, c06, c07, c08, c09"
    )


# -- deciding labels -------------------------------------------------------------------------


def test_the_labels_that_decide_are_those_of_selectors_and_order() -> None:
    requirement = LabelSelectorRequirement(key="zone", operator="Exists")
    declared = strategy(
        stage(sorting_label_key="order"),
        stage(label_selector=LabelSelector(match_expressions=[requirement])),
        stage(label_selector=None),
    )
    assert stages.deciding_labels(declared) == ["env", "order", "zone"]


def test_without_a_strategy_no_label_decides() -> None:
    assert stages.deciding_labels(None) == []


# -- any fleet -------------------------------------------------------------------------------

ENVIRONMENTS = st.sampled_from(["dev", "test", "prod"])
FLEETS = st.dictionaries(
    st.text("abc", min_size=1, max_size=4),
    st.tuples(ENVIRONMENTS, st.sampled_from(["-1", "0", "2", "10", "x"])),
    max_size=8,
).map(lambda fleet: [cluster(name, env, order=rank) for name, (env, rank) in fleet.items()])
STAGES = st.lists(
    st.builds(stage, env=ENVIRONMENTS, sorting_label_key=st.sampled_from([None, "order"])),
    max_size=4,
)


@given(FLEETS, STAGES)
@settings(deadline=None)
def test_every_cluster_is_in_exactly_one_stage_or_the_plan_is_rejected(
    fleet: list[ClusterFact], declared: list[Stage]
) -> None:
    everyone = [each.name for each in fleet]
    homes = {each.name: [one for one in declared if naively_selects(one, each)] for each in fleet}
    try:
        found = assign(declared, fleet)
        stages.check_complete(found, everyone)
    except InitializationError:
        assert any(len(homes[each.name]) != 1 or unsorted(homes, each) for each in fleet)
    else:
        assert sorted(name for each in found for name in names(each)) == sorted(everyone)
        assert all(len(home) == 1 for home in homes.values())


def naively_selects(one: Stage, each: ClusterFact) -> bool:
    assert one.label_selector is not None
    return one.label_selector.match_labels["env"] == each.labels["env"]


def unsorted(homes: dict[str, list[Stage]], each: ClusterFact) -> bool:
    """Return whether the cluster's label is not a number although its stage sorts by it."""
    wanted = any(one.sorting_label_key for one in homes[each.name])
    return wanted and each.labels["order"] == "x"


@given(FLEETS, st.sampled_from([None, "order"]), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_is_total_whatever_the_order_in_which_clusters_are_listed(
    fleet: list[ClusterFact], key: str | None, random: Random
) -> None:
    numbered = [each for each in fleet if each.labels["order"] != "x"]
    declared = [stage(label_selector=LabelSelector(), sorting_label_key=key)]
    (found,) = assign(declared, numbered)
    shuffled = random.sample(numbered, len(numbered))
    assert assign(declared, shuffled) == [found]

    rank = {each.name: int(each.labels["order"]) if key else 0 for each in numbered}
    positions = [(rank[name], name) for name in names(found)]
    assert all(one < other for one, other in pairwise(positions))
