"""The private parts of the SDK are as these tests use them; a failure says what to update."""

import ast
import asyncio
from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
import temporalio
from pydantic import BaseModel
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.worker import WorkflowInstanceDetails

from tests.workflows.simulated import sdk_instance
from tests.workflows.simulated.activity_attempts import ActivityCode, Attempt
from tests.workflows.simulated.histories import LimitExceededError, Limits
from tests.workflows.simulated.recordings import NondeterminismError
from tests.workflows.simulated.sdk_instance import TaskFailedError
from tests.workflows.simulated.timeline import Timeline
from tests.workflows.simulated.virtual_temporal import NeverError, VirtualTemporal
from workflows.plugin import fleetgate_plugin

WHAT_TO_DO: Final = (
    "These tests use private parts of the SDK, all of them in sdk_instance.py. Compare its classes "
    "and functions with temporalio/worker/_workflow.py and _workflow_instance.py of the new SDK, "
    "update what has changed, and set sdk_instance.SDK to the new version."
)
DETAILS: Final = {
    "payload_converter_factory",
    "failure_converter_class",
    "interceptor_classes",
    "defn",
    "info",
    "randomness_seed",
    "extern_functions",
    "disable_eager_activity_execution",
    "worker_level_failure_exception_types",
    "patch_activation_callback",
    "last_completion_result",
    "last_failure",
    "default_workflow_logic_flags",
}
"""Fields with which a worker of SDK 1.35 creates a workflow instance."""


def test_the_sdk_has_the_version_whose_private_parts_are_used() -> None:
    version = temporalio.__version__
    assert version.startswith(f"{sdk_instance.SDK}."), f"SDK {version}. {WHAT_TO_DO}"


def test_a_workflow_instance_is_created_from_the_same_fields() -> None:
    found = {each.name for each in fields(WorkflowInstanceDetails)}
    assert found == DETAILS, f"changed: {sorted(found ^ DETAILS)}. {WHAT_TO_DO}"


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.py")), ids=lambda it: it.stem)
def test_only_one_module_uses_private_parts_of_the_sdk(path: Path) -> None:
    imported = [
        f"{node.module}.{name.name}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("temporalio")
        for name in node.names
    ]
    private = [each for each in imported if "._" in each or ".bridge" in each]
    assert bool(private) == (path.stem == "sdk_instance"), private


# -- a workflow that does everything that is simulated -------------------------------------


class Word(BaseModel):
    """Argument and result of all calls here."""

    text: str = ""


FEW: Final = RetryPolicy(
    initial_interval=timedelta(seconds=1), backoff_coefficient=2, maximum_attempts=3
)


@workflow.defn
class Everything:
    """A workflow that does what its argument says, and remembers the messages that it gets."""

    @workflow.init
    def __init__(self, word: Word) -> None:
        self._told: list[str] = [word.text]

    @workflow.run
    async def run(self, word: Word) -> Word:
        """Do one thing."""
        return Word(text=await getattr(self, f"_{word.text}")())

    @workflow.signal
    def tell(self, word: Word) -> None:
        """Remember a word."""
        self._told.append(word.text)

    @workflow.update
    async def ask(self, word: Word) -> Word:
        """Answer after a while."""
        await workflow.sleep(10)
        if word.text == "fail":
            raise ApplicationError("cannot")
        self._told.append(word.text)
        return Word(text=f"{word.text}!")

    @ask.validator
    def _check(self, word: Word) -> None:
        if not word.text:
            raise ValueError("say something")

    @workflow.query
    def told(self) -> list[str]:
        """Return everything remembered."""
        return self._told

    async def _listen(self) -> str:
        await workflow.wait_condition(lambda: "end" in self._told)
        return " ".join(self._told)

    async def _activity(self) -> str:
        answer = await workflow.execute_activity(
            "do",
            Word(text="normal"),
            result_type=Word,
            start_to_close_timeout=timedelta(seconds=30),
            heartbeat_timeout=timedelta(seconds=3),
            retry_policy=FEW,
        )
        return str(answer.text)

    async def _local(self) -> str:
        answer = await workflow.execute_local_activity(
            "do",
            Word(text="local"),
            result_type=Word,
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=FEW,
        )
        return f"{answer.text} {' '.join(self._told[1:])}"

    async def _cancelled_activity(self) -> str:
        handle = workflow.start_activity(
            "do",
            Word(text="normal"),
            start_to_close_timeout=timedelta(hours=1),
            heartbeat_timeout=timedelta(seconds=5),
        )
        await workflow.sleep(1)
        handle.cancel()
        try:
            await handle
        except BaseException as error:  # noqa: BLE001 - any error is reported
            await workflow.sleep(60)
            return type(error).__name__
        return "not cancelled"

    async def _tell_other(self) -> str:
        other = workflow.get_external_workflow_handle("other")
        try:
            await other.signal("tell", Word(text="end"))
        except FailureError as error:
            return f"not told: {error}"
        return "told"

    async def _patched(self) -> str:
        newer = workflow.patched("newer")
        await workflow.sleep(1)
        return str(newer)

    async def _again(self) -> str:
        await workflow.sleep(1)
        workflow.continue_as_new(Word(text="listen"))

    async def _sleep(self) -> str:
        try:
            await workflow.sleep(3600)
        except asyncio.CancelledError:
            return f"cancelled: {workflow.cancellation_reason()}"
        return "slept"

    async def _stall(self) -> str:
        raise RuntimeError("a bug")

    async def _many(self) -> str:
        work = [
            workflow.execute_activity(
                "do", Word(text=str(number)), start_to_close_timeout=timedelta(seconds=9)
            )
            for number in range(11)
        ]
        await asyncio.gather(*work)
        return "done"

    async def _differs(self) -> str:
        seconds = 5 if workflow.unsafe.is_replaying() else 6
        await workflow.sleep(seconds)
        return "done"


class Work:
    """The activity of that workflow; the test decides how it ends."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.failures = 0
        self.seconds = 1.0

    def code(self, activity_type: str) -> ActivityCode:
        assert activity_type == "do"
        return self._do

    def _do(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)
        if len(self.attempts) <= self.failures:
            attempt.after(self.seconds, lambda: attempt.fail("Away"))
        else:
            result = Word(text=f"{attempt.request(Word).text} {attempt.number}")
            attempt.after(self.seconds, lambda: attempt.complete(result))


class Played:
    """The workflow in virtual time."""

    def __init__(self, what: str, *, limits: Limits | None = None) -> None:
        self.work = Work()
        self.timeline = Timeline()
        self.temporal = VirtualTemporal(
            Everything,
            Word(text=what),
            workflow_id="everything",
            activities=self.work,
            plugin=fleetgate_plugin(),
            timeline=self.timeline,
            limits=limits,
        )

    @property
    def result(self) -> str:
        return self.temporal.result(Word).text

    @property
    def seconds(self) -> float:
        return self.timeline.passed.total_seconds()

    def wait(self, seconds: float) -> None:
        self.timeline.wait(timedelta(seconds=seconds))


Play = type[Played]


@pytest.fixture
def play() -> Iterator[Play]:
    """Run the workflow; it is evicted from memory afterwards."""
    played: list[Played] = []

    class Kept(Played):
        def __init__(self, what: str, *, limits: Limits | None = None) -> None:
            super().__init__(what, limits=limits)
            played.append(self)

    yield Kept
    for each in played:
        each.temporal.evict()


def test_signals_are_handled_and_queries_answered(play: Play) -> None:
    played = play("listen")
    played.temporal.signal("tell", Word(text="a"))
    played.wait(1)
    assert played.temporal.query("told", kind=list[str]) == ["listen", "a"]
    played.temporal.signal("tell", Word(text="end"))
    assert played.result == "listen a end"


def test_an_update_is_accepted_at_once_and_answered_later(play: Play) -> None:
    played = play("listen")
    sent = played.temporal.send_update("ask", Word(text="a"))
    played.wait(1)
    assert (sent.accepted, sent.is_over) == (True, False)
    played.wait(10)
    assert sent.result(Word).text == "a!"


def test_an_update_that_its_validator_refuses_leaves_no_trace(play: Play) -> None:
    played = play("listen")
    played.wait(1)
    before = played.temporal.events
    sent = played.temporal.update("ask", Word())
    assert (sent.accepted, sent.failure) == (False, "say something")
    assert played.temporal.events == before
    played.temporal.check_replay()


def test_an_update_whose_handler_fails_was_accepted(play: Play) -> None:
    sent = play("listen").temporal.update("ask", Word(text="fail"))
    assert (sent.accepted, sent.failure) == (True, "cannot")


def test_a_failed_activity_is_retried_after_growing_pauses(play: Play) -> None:
    played = play("activity")
    played.work.failures = 2
    assert played.result == "normal 3"
    assert 6 < played.seconds < 6.1


def test_an_activity_without_heartbeats_is_retried_after_its_heartbeat_timeout(
    play: Play,
) -> None:
    played = play("activity")
    played.wait(0.5)
    played.temporal.lose_worker(away=timedelta(seconds=0.1))
    assert played.result == "normal 2"
    assert 5.4 < played.seconds < 5.6


def test_an_activity_that_takes_too_long_is_retried(play: Play) -> None:
    played = play("activity")
    played.work.seconds = 40
    played.wait(31.5)
    played.work.seconds = 1
    played.wait(1)
    assert [each.number for each in played.work.attempts] == [1, 2]


def test_messages_wait_for_a_local_activity_but_not_forever(play: Play) -> None:
    played = play("local")
    played.work.seconds = 20
    played.wait(1)
    played.temporal.signal("tell", Word(text="heard"))
    played.wait(6)
    assert played.temporal.query("told", kind=list[str]) == ["local"]
    played.wait(2)
    assert played.temporal.query("told", kind=list[str]) == ["local", "heard"]
    assert played.result == "local 1 heard"


def test_a_local_activity_is_an_event_of_its_task(play: Play) -> None:
    played = play("local")
    assert played.result == "local 1 "
    history = played.temporal.execution.history
    assert history.by_type["MARKER_RECORDED"] == 1
    assert history.by_type["WORKFLOW_TASK_COMPLETED"] == 1
    assert history.events == 6


def test_a_cancelled_activity_ends_at_once_for_the_workflow(play: Play) -> None:
    played = play("cancelled_activity")
    played.work.seconds = 100
    assert played.result == "ActivityError"
    history = played.temporal.execution.history
    assert history.by_type["ACTIVITY_TASK_CANCEL_REQUESTED"] == 1
    assert history.by_type["ACTIVITY_TASK_CANCELED"] == 1


def test_a_patched_workflow_replays_the_branch_that_it_took(play: Play) -> None:
    played = play("patched")
    assert played.result == "True"
    played.temporal.check_replay()


def test_a_workflow_continues_as_new_and_messages_follow_it(play: Play) -> None:
    played = play("again")
    played.wait(2)
    assert len(played.temporal.executions) == 2
    played.temporal.signal("tell", Word(text="end"))
    assert played.result == "listen end"


def test_a_workflow_can_be_cancelled_with_a_reason(play: Play) -> None:
    played = play("sleep")
    played.wait(1)
    played.temporal.cancel("enough")
    assert played.result == "cancelled: enough"


def test_a_bug_that_would_stall_the_workflow_fails_the_test(play: Play) -> None:
    with pytest.raises(TaskFailedError, match="a bug"):
        play("stall").wait(1)


def test_waiting_for_something_that_never_happens_fails_the_test(play: Play) -> None:
    with pytest.raises(NeverError, match="the workflow ends"):
        play("listen").temporal.to_end()


def test_a_workflow_that_replays_differently_fails_the_test(play: Play) -> None:
    played = play("differs")
    assert played.result == "done"
    with pytest.raises(NondeterminismError):
        played.temporal.check_replay()


def test_a_new_worker_rebuilds_the_workflow(play: Play) -> None:
    played = play("listen")
    played.temporal.signal("tell", Word(text="a"))
    played.wait(1)
    played.temporal.lose_worker()
    played.temporal.signal("tell", Word(text="end"))
    assert played.result == "listen a end"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(pending_activities=10), "11 pending activities"),
        (Limits(events=10), "a history of 1. events"),
        (Limits(bytes=2000), "a history of . events, 2... bytes"),
        (Limits(payload_bytes=30), "bytes of payload"),
    ],
)
def test_exceeding_a_limit_of_temporal_fails_the_test(
    play: Play, limits: Limits, text: str
) -> None:
    with pytest.raises(LimitExceededError, match=text):
        play("many", limits=limits).temporal.to_end()


def test_a_signal_reaches_another_workflow_if_that_is_running() -> None:
    others: dict[str, VirtualTemporal] = {}
    timeline = Timeline()

    def start(what: str) -> VirtualTemporal:
        return VirtualTemporal(
            Everything,
            Word(text=what),
            workflow_id=what,
            activities=Work(),
            plugin=fleetgate_plugin(),
            timeline=timeline,
            others=others,
        )

    too_early = start("tell_other")
    assert too_early.result(Word).text.startswith("not told: ")
    others["other"] = start("listen")
    in_time = start("tell_other")
    assert in_time.result(Word).text == "told"
    assert others["other"].result(Word).text == "listen end"
    too_late = start("tell_other")
    assert too_late.result(Word).text.startswith("not told: ")
    for each in (too_early, in_time, too_late, others["other"]):
        each.check_replay()
        each.evict()
