"""Whatever people write into the objects of a run, planning decides or says what is wrong."""

import json
import re
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.kinds import CLUSTER_SCOPE
from api.runs import UpdateRunStatus
from api.selectors import LabelSelector, LabelSelectorRequirement
from api.strategies import Stage, StageTask, StageTaskType
from planning import conditions, failures, integers
from planning.errors import InitializationError, RunAborted, RunError, TransientState
from planning.runs import concurrency, estimating, initialization, marks, sizes, stages, validation
from planning.runs.facts import BindingFact, ClusterFact, HubFacts, PolicyFact
from planning.runs.ledger import Ledger
from tests.inputs.generated import LABEL_KEYS, LABEL_VALUES, TEXTS, WAITS
from tests.planning.run_samples import CLUSTER_RUN, NOW, facts, strategy
from tests.planning.test_failures import TEXTS as KNOWN

CLUSTERS = [f"c{number}" for number in range(6)]
SELECTORS = st.none() | st.builds(
    LabelSelector,
    match_labels=st.dictionaries(LABEL_KEYS, LABEL_VALUES, max_size=2),
    match_expressions=st.lists(
        st.builds(
            LabelSelectorRequirement,
            key=LABEL_KEYS,
            operator=st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Like", ""]),
            values=st.lists(LABEL_VALUES, max_size=2),
        ),
        max_size=2,
    ),
)
TASKS = st.builds(
    StageTask, type=st.sampled_from(StageTaskType), wait_time=st.none() | st.one_of(WAITS, TEXTS)
)
STAGES = st.builds(
    Stage,
    name=st.sampled_from(["canary", "prod", "a" * 63, "7"]),
    label_selector=SELECTORS,
    sorting_label_key=st.none() | LABEL_KEYS,
    max_concurrency=st.integers(-1, 2**40) | st.sampled_from(["1%", "50%", "100%", "0%", "x"]),
    before_stage_tasks=st.lists(TASKS, max_size=2),
    after_stage_tasks=st.lists(TASKS, max_size=3),
)
FLEETS = st.builds(
    lambda labels: [ClusterFact(name=name, labels=each) for name, each in labels.items()],
    st.dictionaries(
        st.sampled_from(CLUSTERS), st.dictionaries(LABEL_KEYS, LABEL_VALUES, max_size=3)
    ),
)
BINDINGS = st.lists(
    st.builds(
        BindingFact,
        name=st.sampled_from(["b0", "b1", "b2"]) | TEXTS,
        cluster=st.sampled_from(CLUSTERS),
        policy_snapshot=st.sampled_from(["web-0", "web-1"]),
        state=st.sampled_from(["Scheduled", "Bound", "Unscheduled", "Odd"]),
        deleting=st.booleans(),
    ),
    max_size=8,
)
POLICIES = st.lists(
    st.builds(
        PolicyFact,
        name=st.just("web-0"),
        index=TEXTS,
        placement_type=st.sampled_from(["PickAll", "PickN", "PickFixed", "Odd"]),
        cluster_names=st.integers(0, 6),
        cluster_count=st.none() | TEXTS | st.integers(-1, 6).map(str),
        scheduled=st.booleans(),
    ),
    max_size=2,
)
HUBS = st.builds(
    lambda declared, clusters, bindings, policies: facts(
        strategy=None if declared is None else strategy(*declared),
        clusters=clusters,
        bindings=bindings,
        policies=policies,
    ),
    st.none() | st.lists(STAGES, max_size=4),
    FLEETS,
    BINDINGS,
    POLICIES,
)
SOUND = st.builds(
    lambda order, waits: facts(
        strategy=strategy(
            *(
                Stage(
                    name=f"s{number}",
                    label_selector=LabelSelector(match_labels={"stage": str(number)}),
                    sorting_label_key="order",
                    after_stage_tasks=[StageTask(type="TimedWait", wait_time=wait)],
                )
                for number, wait in enumerate(waits)
            )
        ),
        clusters=[
            ClusterFact(name=name, labels={"stage": str(number % len(waits)), "order": str(rank)})
            for number, (name, rank) in enumerate(zip(CLUSTERS, order, strict=True))
        ],
        bindings=[
            BindingFact(name=f"web-{name}", cluster=name, policy_snapshot="web-0", state="Bound")
            for name in CLUSTERS
        ],
    ),
    st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=len(CLUSTERS), max_size=len(CLUSTERS)),
    st.lists(st.sampled_from(["1s", "90s", "1.5h"]), min_size=1, max_size=4),
)
"""Facts from which a run can be planned."""


def plan(known: HubFacts) -> tuple[UpdateRunStatus, str]:
    """Plan a run; return its status as far as planning got, and why it stopped, if it did."""
    status = UpdateRunStatus()
    try:
        initialization.plan(known, run=CLUSTER_RUN, status=status)
    except (InitializationError, TransientState) as error:
        return status, str(error)
    return status, ""


@given(HUBS)
def test_any_facts_give_a_plan_or_a_message_that_the_run_can_show(known: HubFacts) -> None:
    status, problem = plan(known)
    if problem:
        assert len(problem) > len("cannot continue the updateRun: ")
        sizes.cut(status)
        marks.run_not_initialized(Ledger(status, generation=1), problem, NOW)
        assert conditions.has(status.conditions, "Initialized", "False")
    json.dumps(status.to_wire()).encode()


@given(HUBS, st.randoms(use_true_random=False))
def test_a_plan_does_not_depend_on_the_order_in_which_the_hub_lists_objects(
    known: HubFacts, random: Random
) -> None:
    bindings, clusters = list(known.bindings), list(known.clusters)
    random.shuffle(bindings)
    random.shuffle(clusters)
    shuffled = known.model_copy(update={"bindings": bindings, "clusters": clusters})
    (before, problem), (after, other) = plan(known), plan(shuffled)
    assert bool(problem) == bool(other)
    if not problem:
        assert before == after


@given(HUBS)
def test_every_selected_cluster_of_a_plan_is_in_exactly_one_stage(known: HubFacts) -> None:
    status = UpdateRunStatus()
    try:
        targets = initialization.plan(known, run=CLUSTER_RUN, status=status)
    except (InitializationError, TransientState):
        return
    placed = [each.cluster_name for stage in status.stages_status for each in stage.clusters]
    assert sorted(placed) == sorted(set(placed)) == sorted(targets.selected)
    assert status.deletion_stage_status is not None
    removed = [each.cluster_name for each in status.deletion_stage_status.clusters]
    assert removed == sorted(targets.leaving)


@given(SOUND)
def test_a_stage_is_sorted_by_its_label_and_then_by_name(known: HubFacts) -> None:
    status, problem = plan(known)
    assert not problem
    labels = {each.name: each.labels for each in known.clusters}
    for stage in status.stages_status:
        ranks = [
            (int(labels[each.cluster_name]["order"]), each.cluster_name) for each in stage.clusters
        ]
        assert all(before < after for before, after in pairwise(ranks))


@given(SOUND)
def test_a_planned_run_may_continue_while_nothing_changes(known: HubFacts) -> None:
    status, _ = plan(known)
    targets = validation.check(known, run=CLUSTER_RUN, status=status).targets
    assert targets.selected == {name: f"web-{name}" for name in CLUSTERS}


@given(SOUND, HUBS)
def test_whatever_changes_a_run_continues_or_fails_with_a_message(
    known: HubFacts, now: HubFacts
) -> None:
    status, _ = plan(known)
    before = status.model_copy(deep=True)
    try:
        validation.check(now, run=CLUSTER_RUN, status=status)
    except RunError as error:
        assert str(error)  # noqa: PT017 - most examples end the run, but not all
    assert status == before


@given(STAGES, st.integers(0, 3000))
def test_waves_contain_each_cluster_once_and_never_more_than_allowed(
    stage: Stage, clusters: int
) -> None:
    entry: Any = stages._entry(
        stage, [ClusterFact(name=f"c{number}") for number in range(clusters)], "v2"
    )
    if stage.max_concurrency == "x":
        with pytest.raises(RunAborted, match='"x"'):
            estimating.waves(stage, entry)
        return
    found = estimating.waves(stage, entry)
    assert [each for wave in found for each in wave] == [f"c{n}" for n in range(clusters)]
    assert max(map(len, found), default=0) <= concurrency.MOST


@given(TEXTS)
def test_an_index_is_a_number_or_is_named_in_the_error(index: str) -> None:
    if integers.known(index, otherwise=-1) >= 0:
        assert 0 <= initialization.check_index(index) < 2**63
        return
    text = f"invalid resource snapshot index `{index}` provided, expected an integer >= 0"
    with pytest.raises(InitializationError, match=re.escape(text)):
        initialization.check_index(index)


@given(st.text(min_size=1, max_size=20), st.integers(1, 40_000))
def test_no_message_makes_a_condition_that_the_api_refuses(part: str, length: int) -> None:
    text = (part * length)[:length]
    made = conditions.make("Succeeded", "False", "Failed", text, generation=1, now=NOW)
    assert len(made.message) <= 32768
    assert made.message[:100] == text[:100]


@pytest.mark.parametrize("wait", ["0s", "0.0000000001s", "9999999999h"])
def test_an_impossible_wait_is_named(wait: str) -> None:
    stage = Stage(
        name="prod",
        label_selector=LabelSelector(),
        after_stage_tasks=[StageTask(type="TimedWait", wait_time=wait)],
    )
    _, problem = plan(facts(strategy=strategy(stage)))
    assert "stage: prod, err: task 0 of type TimedWait has " in problem


@given(st.one_of(TEXTS, st.sampled_from(sorted(KNOWN.values()))), st.lists(TEXTS, max_size=3))
def test_any_failure_message_is_explained(text: str, parts: list[str]) -> None:
    for part in parts:
        text = text.replace("`", f"`{part}", 1)
    found = failures.explain(
        text, scope=CLUSTER_SCOPE, placement="web", strategy="slow", namespace=""
    )
    assert found.cause
    assert found.fix
