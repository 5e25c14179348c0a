"""A workflow with all its executions, as a client sees it: messages in, answers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from temporalio.api.common.v1 import Payload
from temporalio.plugin import SimplePlugin
from temporalio.worker import ReplayerConfig
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.pending_activities import Activities, Setting
from tests.workflows.simulated.sdk_instance import Close, Start, UpdateAnswer
from tests.workflows.simulated.timeline import Timeline
from tests.workflows.simulated.virtual_executions import Execution

AnswerT = TypeVar("AnswerT")
LONG: Final = timedelta(days=365)
"""Virtual time to wait; what has not happened by then never happens."""


class NeverError(AssertionError):
    """What a test waits for does not happen."""


class Update:
    """An update that was sent."""

    def __init__(self, decode: Callable[[Payload, type[Any]], Any]) -> None:
        self._decode = decode
        self._answer: UpdateAnswer | None = None
        self.accepted: bool | None = None
        """Whether the workflow accepted it; None until it has decided."""

    @property
    def is_over(self) -> bool:
        """Whether the final answer has arrived."""
        return self._answer is not None

    @property
    def failure(self) -> str:
        """Why it was refused, or failed; empty otherwise."""
        failure = self._answer.failure if self._answer else None
        return failure.message if failure else ""

    def result(self, kind: type[AnswerT]) -> AnswerT:
        """Return the final answer to the sender."""
        assert self._answer is not None, "not answered yet"
        assert self._answer.result is not None, self.failure
        result: AnswerT = self._decode(self._answer.result, kind)
        return result

    def take(self, answer: UpdateAnswer, *, accepted: bool) -> None:
        """Record an answer of the workflow."""
        self.accepted = accepted
        if not answer.is_acceptance:
            self._answer = answer


class VirtualTemporal:
    """One workflow, from its start to its end, over all executions."""

    def __init__(
        self,
        workflow: type,
        argument: BaseModel,
        *,
        workflow_id: str,
        activities: Activities,
        plugin: SimplePlugin,
        timeline: Timeline,
        limits: Limits | None = None,
        sandboxed: bool = False,
        others: Mapping[str, VirtualTemporal] | None = None,
    ) -> None:
        """Start the workflow; it can signal the `others`, by workflow id."""
        config = plugin.configure_replayer(
            ReplayerConfig(workflows=[], workflow_runner=SandboxedWorkflowRunner())
        )
        converter = config["data_converter"]
        assert converter is not None, "the plugin brings its converter"
        self._converter = converter.payload_converter
        self._timeline = timeline
        self._setting = Setting(
            timeline,
            activities,
            plugin,
            converter,
            limits or Limits(),
            sandboxed,
            self._signal_other,
        )
        self._others = {} if others is None else others
        self._ids = count(1)
        self._updates: dict[str, Update] = {}
        self.closed: Close | None = None
        """How the workflow ended."""
        self.executions: list[Execution] = []
        self._workflow, self._workflow_id = workflow, workflow_id
        self._arguments = self._converter.to_payloads([argument])
        self._begin(self._arguments)

    @property
    def execution(self) -> Execution:
        """The latest execution."""
        return self.executions[-1]

    @property
    def events(self) -> int:
        """Number of history events, over all executions."""
        return sum(each.history.events for each in self.executions)

    @property
    def search_attributes(self) -> dict[str, str]:
        """The search attributes that the workflow has set, over all executions."""
        return {
            name: json.loads(payload.data)
            for each in self.executions
            for name, payload in each.search_attributes.items()
        }

    # -- messages --------------------------------------------------------------------------

    def signal(self, name: str, *arguments: object) -> None:
        """Send a signal."""
        self.execution.signal(name, self._converter.to_payloads(arguments))

    @property
    def is_running(self) -> bool:
        """Whether Temporal knows the workflow, and it is not over."""
        return self.closed is None and self.execution.is_open

    def _signal_other(self, id_: str, name: str, arguments: Sequence[Payload]) -> bool:
        other = self._others.get(id_)
        if other is None or not other.is_running:
            return False
        other.execution.signal(name, arguments)
        return True

    def send_update(self, name: str, *arguments: object) -> Update:
        """Send an update without waiting for an answer."""
        id_ = f"update-{next(self._ids)}"
        sent = self._updates[id_] = Update(self._decode)
        self.execution.update(name, self._converter.to_payloads(arguments), id_=id_)
        return sent

    def update(self, name: str, *arguments: object) -> Update:
        """Send an update and wait for its final answer."""
        sent = self.send_update(name, *arguments)
        self.until(lambda: sent.is_over, f"update {name} is answered")
        return sent

    def query(self, name: str, *arguments: object, kind: type[AnswerT]) -> AnswerT:
        """Query the workflow in its present state."""
        answer = self.execution.query(name, self._converter.to_payloads(arguments))
        decoded: AnswerT = self._decode(answer, kind)
        return decoded

    def cancel(self, reason: str = "") -> None:
        """Request cancellation of the workflow."""
        self.execution.cancel(reason)

    def result(self, kind: type[AnswerT]) -> AnswerT:
        """Run the workflow to its end, and return its result."""
        self.to_end()
        assert self.closed is not None
        assert self.closed.how == "complete", self.closed
        decoded: AnswerT = self._decode(self.closed.payloads[0], kind)
        return decoded

    # -- time ------------------------------------------------------------------------------

    def until(self, happened: Callable[[], bool], what: str, *, within: timedelta = LONG) -> None:
        """Let time pass until something has happened.

        Raises NeverError: it does not, or not in time.
        """
        timeline, limit = self._timeline, self._timeline.now + within
        while not happened():
            if timeline.next_at is None or timeline.next_at > limit:
                raise NeverError(f"not within {within}: {what}")
            timeline.step()

    def to_end(self) -> None:
        """Let time pass until the workflow is over."""
        self.until(lambda: self.closed is not None, "the workflow ends")

    # -- workers ---------------------------------------------------------------------------

    def lose_worker(self, *, away: timedelta = timedelta(seconds=1)) -> None:
        """Kill the worker; another one takes over after some time."""
        self.execution.lose_worker(away=away)

    def lose_database(self, *, away: timedelta) -> None:
        """Lose everything; the bridge starts the workflow again after some time."""
        self.execution.vanish()
        self._timeline.after(away, lambda: self._begin(self._arguments, new=True))

    def check_replay(self) -> None:
        """Replay all executions; raises NondeterminismError."""
        for each in self.executions:
            each.check_replay()

    def evict(self) -> None:
        """Evict everything from memory, at the end of a test."""
        for each in self.executions:
            each.evict()

    # -- executions ------------------------------------------------------------------------

    def _begin(self, arguments: list[Payload], *, new: bool = False) -> None:
        before = self.executions[-1].start.run_id if self.executions and not new else None
        start = Start(
            workflow=self._workflow,
            workflow_id=self._workflow_id,
            run_id=f"run-{len(self.executions) + 1}",
            arguments=arguments,
            at=self._timeline.now,
            continued_from=before,
        )
        self.executions.append(
            Execution(start, self._setting, closed=self._close, answered=self._answer)
        )

    def _close(self, close: Close) -> None:
        if close.how == "continue_as_new":
            self._begin(list(close.payloads))
        else:
            self.closed = close

    def _answer(self, answer: UpdateAnswer, accepted: bool) -> None:
        self._updates[answer.id].take(answer, accepted=accepted)

    def _decode(self, payload: Payload, kind: type[Any]) -> Any:
        return self._converter.from_payloads([payload], [kind])[0]
