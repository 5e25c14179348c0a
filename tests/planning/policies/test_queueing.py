"""Which run of a placement may begin: each decision, and every interleaving of several runs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from api.base import ObjectMeta
from api.kinds import CLUSTER_STAGED_UPDATE_RUN as KIND
from api.names import ROLLBACK_OF, RUN_FINALIZER
from api.reasons import ConditionType, RunReason, StageReason
from api.rollout_policies import ConcurrentRuns
from api.runs import RunState, StageStatus, UpdateRun, UpdateRunSpec, UpdateRunStatus
from planning import conditions
from planning.policies import queueing, texts
from planning.policies.queueing import Line, Rival, Standing, Step
from planning.runs.rules import RunRules
from tests.planning.run_samples import NOW

ALLOW, QUEUE = ConcurrentRuns.ALLOW, ConcurrentRuns.QUEUE
SUPERSEDE, REFUSE = ConcurrentRuns.SUPERSEDE, ConcurrentRuns.REFUSE
ADMITTED, PROGRESSING = ConditionType.ADMITTED, ConditionType.PROGRESSING


def status(*found: tuple[str, str, str], stages: tuple[StageStatus, ...] = ()) -> UpdateRunStatus:
    """Return a status with conditions, each by type, status and reason."""
    made = [conditions.make(*each, "", generation=1, now=NOW) for each in found]
    return UpdateRunStatus(conditions=made, stages_status=list(stages))


def stage(reason: str = "", **fields: Any) -> StageStatus:
    found = [conditions.make(PROGRESSING, "False", reason, "", generation=1, now=NOW)]
    return StageStatus(stage_name="one", clusters=[], conditions=found if reason else [], **fields)


def run(
    name: str,
    *found: tuple[str, str, str],
    state: RunState = RunState.RUN,
    age: int = 0,
    deleted: datetime | None = None,
    placement: str = "web",
) -> UpdateRun:
    """Return a run that was created `age` seconds before others."""
    created = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(seconds=age)
    metadata = ObjectMeta(
        name=name, uid=f"uid-{name}", creation_timestamp=created, deletion_timestamp=deleted
    )
    spec = UpdateRunSpec(placement_name=placement, staged_rollout_strategy_name="slow", state=state)
    return UpdateRun(
        api_version=KIND.api_version,
        kind=KIND.kind,
        metadata=metadata,
        spec=spec,
        status=status(*found),
    )


PLANNED = ("Initialized", "True", RunReason.INITIALIZED)
CLAIM = (ADMITTED, "Unknown", RunReason.ADMISSION_REQUESTED)
BEGUN = (ADMITTED, "True", RunReason.ADMITTED)
WITHDRAWN = (ADMITTED, "False", RunReason.QUEUED)
OVER = ("Succeeded", "True", RunReason.SUCCEEDED)


# -- what a status says ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "begun"),
    [
        (status(), False),
        (status(PLANNED), False),
        (status(PLANNED, (PROGRESSING, "True", RunReason.PROGRESSING)), True),
        (status(PLANNED, (PROGRESSING, "False", RunReason.WAITING)), True),
        (status(PLANNED, (PROGRESSING, "False", RunReason.PAUSED)), True),
        (status(PLANNED, (PROGRESSING, "False", RunReason.QUEUED)), False),
        (status((PROGRESSING, "False", RunReason.STOPPED)), False),
        (
            status((PROGRESSING, "False", RunReason.STOPPED), stages=(stage(StageReason.STOPPED),)),
            False,
        ),
        (
            status(
                (PROGRESSING, "False", RunReason.STOPPED),
                stages=(stage(StageReason.STOPPED, start_time=NOW),),
            ),
            True,
        ),
        (
            status((PROGRESSING, "False", RunReason.STOPPED), stages=(stage(StageReason.SKIPPED),)),
            True,
        ),
        (status(CLAIM), False),
        (status(WITHDRAWN, (PROGRESSING, "False", RunReason.QUEUED)), False),
        (status(BEGUN, (PROGRESSING, "False", RunReason.STOPPED)), True),
    ],
)
def test_a_run_has_begun_once_it_was_admitted_or_a_stage_was(
    found: UpdateRunStatus, begun: bool
) -> None:
    assert queueing.has_begun(found) is begun


@pytest.mark.parametrize("mode", list(ConcurrentRuns))
def test_only_a_policy_or_an_earlier_claim_makes_a_run_ask(mode: ConcurrentRuns) -> None:
    rules = RunRules(concurrent_runs=mode)
    assert queueing.has_to_ask(rules, status(PLANNED)) is (mode is not ALLOW)
    assert queueing.has_to_ask(rules, status(PLANNED, CLAIM))
    assert not queueing.has_to_ask(rules, status(PLANNED, BEGUN))


# -- what a run sees -------------------------------------------------------------------------


def test_a_run_sees_the_live_runs_that_have_begun_or_are_to_be_executed() -> None:
    seen = queueing.line(
        [
            run("me", CLAIM),
            run("older", age=9),
            run("begun", BEGUN, age=5),
            run("begun-and-stopped", BEGUN, state=RunState.STOP),
            run("stopped", state=RunState.STOP, age=1),
            run("plan", PLANNED, state=RunState.INITIALIZE, age=7),
            run("over", PLANNED, OVER, age=7),
            run("deleted", BEGUN, age=7, deleted=NOW),
            run("newer", CLAIM, age=-3),
        ],
        uid="uid-me",
    )
    assert seen.is_there
    assert seen.claims
    assert [each.name for each in seen.rivals] == [
        "older",
        "begun",
        "stopped",
        "begun-and-stopped",
        "newer",
    ]
    for mode in (QUEUE, REFUSE):
        assert [each.name for each in seen.ahead(mode)] == ["older", "begun", "begun-and-stopped"]
    assert [each.name for each in seen.ahead(SUPERSEDE)] == [
        "older",
        "begun",
        "stopped",
        "begun-and-stopped",
    ]


def test_a_rollback_begins_before_a_run_that_waits_for_the_run_that_it_rolls_back() -> None:
    failing, waiting, rollback = run("v2", BEGUN, age=9), run("v3", WITHDRAWN, age=5), run("back")
    rollback.metadata.annotations[ROLLBACK_OF] = "v2"
    seen = {
        each.metadata.name: queueing.line([failing, waiting, rollback], uid=each.metadata.uid)
        for each in (waiting, rollback)
    }
    assert [each.name for each in seen["v3"].ahead(QUEUE)] == ["back", "v2"]
    assert [each.name for each in seen["back"].ahead(QUEUE)] == ["v2"]


@pytest.mark.parametrize(
    ("found", "finalizers", "ahead"),
    [
        (BEGUN, [RUN_FINALIZER], True),
        (CLAIM, [RUN_FINALIZER], True),
        (BEGUN, ["foregroundDeletion"], False),
        (WITHDRAWN, [RUN_FINALIZER], False),
    ],
)
def test_a_run_that_is_being_deleted_counts_until_its_workflow_has_ended(
    found: tuple[str, str, str], finalizers: list[str], ahead: bool
) -> None:
    other = run("other", found, age=9, deleted=NOW)
    other.metadata.finalizers = finalizers
    seen = queueing.line([run("me"), other], uid="uid-me")
    assert bool(seen.rivals) is ahead


@pytest.mark.parametrize("runs", [[], [run("me", deleted=NOW)], [run("other")]])
def test_a_run_that_is_gone_sees_that(runs: list[UpdateRun]) -> None:
    assert not queueing.line(runs, uid="uid-me").is_there


def test_of_runs_of_the_same_second_the_name_decides() -> None:
    seen = queueing.line([run("b"), run("a"), run("c")], uid="uid-b")
    assert [(each.name, each.is_older) for each in seen.rivals] == [("a", True), ("c", False)]


@pytest.mark.parametrize(
    ("rivals", "position", "behind", "text"),
    [
        ([("a", "begun")], 1, "a", "waits for run a, next in line"),
        ([("a", "begun"), ("b", "")], 2, "a", "waits for run a, 2nd in line"),
        ([("b", ""), ("a", "begun"), ("c", "")], 3, "a", "waits for run a, 3rd in line"),
        ([("a", ""), ("b", "")], 2, "a", "waits for run a, 2nd in line"),
        ([("a", "claims newer")], 1, "a", "waits for run a, next in line"),
    ],
)
def test_the_place_in_the_line(
    rivals: list[tuple[str, str]], position: int, behind: str, text: str
) -> None:
    found = [
        Rival(
            name=name,
            uid=name,
            is_older="newer" not in what,
            begun="begun" in what,
            claims="claims" in what,
        )
        for name, what in rivals
    ]
    place = queueing.place(Line(rivals=found), QUEUE)
    assert place is not None
    assert (place.position, place.behind) == (position, behind)
    assert texts.queued(place) == text


@pytest.mark.parametrize(
    ("position", "text"),
    [(1, "next"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (21, "21st"), (112, "112th")],
)
def test_ordinals(position: int, text: str) -> None:
    assert texts.in_line(position) == text


# -- every line that two others can make -----------------------------------------------------


def rivals() -> Iterator[Rival]:
    for older, begun, claims, stopped in product([True, False], repeat=4):
        if not (begun and claims):
            yield Rival(
                name="r",
                uid="r",
                is_older=older,
                begun=begun,
                claims=claims,
                is_stopped=stopped,
            )


LINES = [
    Line(claims=claims, rivals=list(found))
    for claims in (True, False)
    for number in range(3)
    for found in product(list(rivals()), repeat=number)
]


@pytest.mark.parametrize("mode", [QUEUE, SUPERSEDE, REFUSE])
def test_a_run_begins_only_with_a_claim_and_if_no_other_claims_or_has_begun(
    mode: ConcurrentRuns,
) -> None:
    for seen in LINES:
        step = queueing.step(seen, mode)
        free = not any(each.begun or each.claims for each in seen.rivals)
        if step is Step.BEGIN:
            assert seen.claims
            assert free
        waits = step in (Step.WAIT, Step.REFUSE)
        assert waits == bool(seen.ahead(mode))
        assert (queueing.place(seen, mode) is not None) or step in (Step.BEGIN, Step.CLAIM)
        assert (step is Step.REFUSE) == (waits and mode is REFUSE)


# -- every interleaving ----------------------------------------------------------------------


@dataclass(frozen=True)
class Actor:
    """A run with its workflow, as far as it matters here."""

    age: int
    mode: ConcurrentRuns
    runs: bool = True
    """Whether its desired state is Run."""
    hub: str = ""
    """Its condition Admitted on the hub."""
    seen: Step | None = None
    """What it is about to do by its last look; None if it has to look."""
    over: bool = False


World = tuple[Actor, ...]


def as_run(actor: Actor) -> UpdateRun:
    said = {"": (), "claim": (CLAIM,), "begun": (BEGUN,), "withdrawn": (WITHDRAWN,)}[actor.hub]
    state = RunState.RUN if actor.runs else RunState.STOP
    return run(str(actor.age), *said, *([OVER] if actor.over else []), state=state, age=actor.age)


def moves(world: World, index: int) -> Iterator[Actor]:
    """Yield what one of the runs may do next."""
    me = world[index]
    if me.over:
        return
    if me.hub == "begun":
        yield replace(me, over=True)
        yield replace(me, runs=not me.runs)
        return
    yield replace(me, runs=not me.runs)
    # The workflow is lost, or its worker: what it has seen is forgotten.
    yield replace(me, seen=None)
    if me.seen is None:
        if me.runs:
            seen = queueing.line(map(as_run, world), uid=f"uid-{me.age}")
            yield replace(me, seen=queueing.step(seen, me.mode))
        elif me.hub == "claim":
            yield replace(me, hub="withdrawn")
        return
    yield acted(me)


def acted(me: Actor) -> Actor:
    """Return the run after it has done what it was about to do; a stop may have come."""
    now = replace(me, seen=None)
    match me.seen:
        case Step.CLAIM:
            return replace(now, hub="claim")
        case Step.BEGIN:
            return replace(now, hub="begun")
        case Step.WAIT:
            return replace(now, hub="withdrawn")
        case Step.REFUSE:
            return replace(now, over=True)
    return now


@pytest.mark.parametrize(
    "modes",
    [*product([QUEUE, SUPERSEDE, REFUSE], repeat=2), (QUEUE,) * 3, (REFUSE, QUEUE, SUPERSEDE)],
)
def test_however_their_steps_interleave_two_never_run(modes: tuple[ConcurrentRuns, ...]) -> None:
    start: World = tuple(Actor(age=age, mode=mode) for age, mode in enumerate(modes))
    ahead, known = [start], {start}
    while ahead:
        world = ahead.pop()
        assert sum(each.hub == "begun" and not each.over for each in world) <= 1, world
        for index in range(len(world)):
            for moved in moves(world, index):
                after = (*world[:index], moved, *world[index + 1 :])
                if after not in known:
                    known.add(after)
                    ahead.append(after)
    assert any(each.hub == "begun" for world in known for each in world)


def test_runs_that_all_want_to_begin_always_get_there() -> None:
    """If each acts on what it sees, in any order, one begins after a few rounds."""
    for order in product(range(3), repeat=4):
        world: World = tuple(Actor(age=age, mode=QUEUE) for age in range(3))
        for index in (*order, *(each for _ in range(8) for each in (*order, 0, 1, 2))):
            found = list(moves(world, index))
            if not world[index].over and world[index].hub != "begun":
                world = (*world[:index], found[-1], *world[index + 1 :])
        assert [each.hub == "begun" for each in world].count(True) == 1, order


# -- who has to look again -------------------------------------------------------------------


WAITING = Standing(
    uid="w",
    placement="web",
    state=RunState.RUN,
    is_live=True,
    begun=False,
    claims=False,
    waits=True,
)
OTHER = replace(WAITING, uid="o", waits=False, begun=True)


@pytest.mark.parametrize(
    ("before", "after", "woken"),
    [
        (OTHER, OTHER, False),
        (OTHER, None, True),
        (OTHER, replace(OTHER, is_live=False, begun=False), True),
        (OTHER, replace(OTHER, uid="new"), True),
        (OTHER, replace(OTHER, state=RunState.STOP), True),
        (replace(OTHER, begun=False), OTHER, True),
        (replace(OTHER, begun=False, claims=True), replace(OTHER, begun=False), False),
        (replace(OTHER, placement="db"), None, False),
        (replace(OTHER, is_live=False), None, False),
    ],
)
def test_a_run_that_waits_looks_again_when_that_may_matter(
    before: Standing, after: Standing | None, woken: bool
) -> None:
    assert queueing.concerns(WAITING, before=before, after=after) is woken
    assert not queueing.concerns(replace(WAITING, waits=False), before=before, after=after)


def test_a_claim_that_is_taken_back_lets_go_of_the_one_that_holds_its_own() -> None:
    before = replace(OTHER, begun=False, claims=True)
    after = replace(before, claims=False)
    assert queueing.concerns(replace(WAITING, claims=True), before=before, after=after)


def test_only_a_run_that_asked_and_is_to_run_waits() -> None:
    assert queueing.standing(run("a", PLANNED, CLAIM)).waits
    assert queueing.standing(run("a", PLANNED, WITHDRAWN)).waits
    assert not queueing.standing(run("a", PLANNED)).waits
    assert not queueing.standing(run("a", PLANNED, BEGUN)).waits
    assert not queueing.standing(run("a", PLANNED, WITHDRAWN, state=RunState.STOP)).waits
    assert not queueing.standing(run("a", PLANNED, CLAIM, OVER)).waits
