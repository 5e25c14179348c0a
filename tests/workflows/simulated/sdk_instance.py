"""A workflow instance of the SDK without a worker: jobs go in, commands come out.

The only module that uses private parts of the SDK: how an instance is created, and the protobuf
messages between its Rust core and its Python part. A new SDK may change them without notice;
`test_sdk_instance.py` detects that, and says what to do.

The workflow runs in the product's own sandbox if a test requests it. Not in every test: the sandbox
imports all modules of the workflow again for each instance, which doubles the cost of a run.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.failure.v1 import Failure
from temporalio.bridge.proto.workflow_activation import (
    WorkflowActivation,
    WorkflowActivationJob,
)
from temporalio.bridge.proto.workflow_commands import (
    ActivityCancellationType,
    ScheduleActivity,
    ScheduleLocalActivity,
    WorkflowCommand,
)
from temporalio.common import Priority, RetryPolicy, TypedSearchAttributes
from temporalio.plugin import SimplePlugin
from temporalio.worker import (
    ReplayerConfig,
    UnsandboxedWorkflowRunner,
    WorkflowInstance,
    WorkflowInstanceDetails,
    WorkflowInterceptorClassInput,
    WorkflowRunner,
)
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner
from temporalio.workflow import Info, _Definition

SDK: Final = "1.35"
"""The SDK version whose private parts are used here."""

Job = WorkflowActivationJob


# -- commands ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ActivityCall:
    """An activity to be run."""

    seq: int
    id: str
    type: str
    arguments: Sequence[Payload]
    summary: Payload
    local: bool
    retry: RetryPolicy
    start_to_close: timedelta
    heartbeat: timedelta | None
    awaits_cancel: bool
    """Whether the workflow waits for its end after cancelling it."""


@dataclass(frozen=True, slots=True)
class ActivityCancel:
    """An activity whose result is no longer wanted."""

    seq: int


@dataclass(frozen=True, slots=True)
class TimerStart:
    """A timer."""

    seq: int
    after: timedelta


@dataclass(frozen=True, slots=True)
class TimerCancel:
    """A timer that is no longer wanted."""

    seq: int


@dataclass(frozen=True, slots=True)
class ExternalSignal:
    """A signal to another workflow."""

    seq: int
    workflow_id: str
    name: str
    arguments: Sequence[Payload]


@dataclass(frozen=True, slots=True)
class Patch:
    """The workflow takes the newer of two branches."""

    id: str


@dataclass(frozen=True, slots=True)
class Upsert:
    """Search attributes with new values."""

    values: dict[str, Payload]


@dataclass(frozen=True, slots=True)
class UpdateAnswer:
    """An acceptance if there is neither result nor failure; a failure may be a refusal."""

    id: str
    result: Payload | None
    failure: Failure | None

    @property
    def is_acceptance(self) -> bool:
        """Whether the update was only accepted."""
        return self.result is None and self.failure is None


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query."""

    result: Payload
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class Close:
    """The end of the execution."""

    how: str
    """`complete`, `fail`, `cancel` or `continue_as_new`."""
    payloads: Sequence[Payload]
    """The result, or the next execution's input."""
    failure: Failure | None


Command = (
    ActivityCall
    | ActivityCancel
    | TimerStart
    | TimerCancel
    | ExternalSignal
    | Patch
    | Upsert
    | UpdateAnswer
    | QueryAnswer
    | Close
)


def _read(command: WorkflowCommand) -> Command:
    kind = command.WhichOneof("variant")
    assert kind is not None, "every command has a kind"
    body = getattr(command, kind)
    match kind:
        case "schedule_activity" | "schedule_local_activity":
            return _call(body, command.user_metadata.summary)
        case "request_cancel_activity" | "request_cancel_local_activity":
            return ActivityCancel(body.seq)
        case "start_timer":
            return TimerStart(body.seq, body.start_to_fire_timeout.ToTimedelta())
        case "cancel_timer":
            return TimerCancel(body.seq)
        case "signal_external_workflow_execution":
            target = body.workflow_execution.workflow_id
            return ExternalSignal(body.seq, target, body.signal_name, body.args)
        case "set_patch_marker":
            return Patch(body.patch_id)
        case "upsert_workflow_search_attributes":
            return Upsert(dict(body.search_attributes.indexed_fields))
        case "update_response":
            result, failure = _either(body, "completed", "rejected")
            return UpdateAnswer(body.protocol_instance_id, result, failure)
        case "respond_to_query":
            return QueryAnswer(body.succeeded.response, _either(body, "", "failed")[1])
    assert kind.endswith("_workflow_execution"), f"not simulated: {kind}"
    payloads = body.arguments if kind.startswith("continue") else [_either(body, "result", "")[0]]
    failure = _either(body, "", "failure")[1]
    how = kind.removesuffix("_workflow_execution")
    return Close(how, [each for each in payloads if each is not None], failure)


def _either(body: Any, result: str, failure: str) -> tuple[Payload | None, Failure | None]:
    fields = {field.name: value for field, value in body.ListFields()}
    return fields.get(result), fields.get(failure)


def _call(body: ScheduleActivity | ScheduleLocalActivity, summary: Payload) -> ActivityCall:
    heartbeat = getattr(body, "heartbeat_timeout", None)
    return ActivityCall(
        seq=body.seq,
        id=body.activity_id,
        type=body.activity_type,
        arguments=body.arguments,
        summary=summary,
        local=isinstance(body, ScheduleLocalActivity),
        retry=RetryPolicy.from_proto(body.retry_policy),
        start_to_close=body.start_to_close_timeout.ToTimedelta(),
        heartbeat=(heartbeat.ToTimedelta() if heartbeat else None) or None,
        awaits_cancel=body.cancellation_type
        == ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


# -- jobs ----------------------------------------------------------------------------------


def timer_fired(seq: int) -> Job:
    """Return the job for a timer that fired."""
    job = Job()
    job.fire_timer.seq = seq
    return job


def activity_completed(seq: int, result: Payload) -> Job:
    """Return the job with an activity's result."""
    job = Job()
    job.resolve_activity.seq = seq
    job.resolve_activity.result.completed.result.CopyFrom(result)
    return job


def activity_failed(seq: int, failure: Failure) -> Job:
    """Return the job with an activity's final failure."""
    job = Job()
    job.resolve_activity.seq = seq
    job.resolve_activity.result.failed.failure.CopyFrom(failure)
    return job


def activity_cancelled(seq: int) -> Job:
    """Return the job for an activity that was cancelled."""
    job = Job()
    job.resolve_activity.seq = seq
    failure = job.resolve_activity.result.cancelled.failure
    failure.message = "Activity cancelled"
    failure.activity_failure_info.SetInParent()
    failure.cause.canceled_failure_info.SetInParent()
    return job


def external_signalled(seq: int, failure: Failure | None) -> Job:
    """Return the job that says that a signal to another workflow has arrived, or why not."""
    job = Job()
    job.resolve_signal_external_workflow.seq = seq
    if failure:
        job.resolve_signal_external_workflow.failure.CopyFrom(failure)
    return job


def signal(name: str, arguments: Sequence[Payload], *, event: int) -> Job:
    """Return the job that delivers a signal, with the id of its event."""
    job = Job()
    job.signal_workflow.originating_event_id = event
    job.signal_workflow.signal_name = name
    job.signal_workflow.input.extend(arguments)
    return job


def update(name: str, arguments: Sequence[Payload], *, id_: str) -> Job:
    """Return the job that delivers an update."""
    job = Job()
    update_ = job.do_update
    update_.id = update_.protocol_instance_id = id_
    update_.name, update_.run_validator = name, True
    update_.input.extend(arguments)
    return job


def query(name: str, arguments: Sequence[Payload]) -> Job:
    """Return the job for a query."""
    job = Job()
    job.query_workflow.query_id = job.query_workflow.query_type = name
    job.query_workflow.arguments.extend(arguments)
    return job


def cancel(reason: str) -> Job:
    """Return the job that requests cancellation."""
    job = Job()
    job.cancel_workflow.reason = reason
    return job


def accepted_updates(jobs: Sequence[Job], refused: Sequence[str]) -> list[Job]:
    """Return the jobs that history contains: without refused updates, and without validation."""
    kept = []
    for job in jobs:
        if job.do_update.id not in refused:
            copied = Job()
            copied.CopyFrom(job)
            if copied.HasField("do_update"):
                copied.do_update.run_validator = False
            kept.append(copied)
    return kept


def patch_known(patch: str) -> Job:
    """Return the job that says that history has a patch marker; used only in a replay."""
    job = Job()
    job.notify_has_patch.patch_id = patch
    return job


# -- instances -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Start:
    """The start of an execution."""

    workflow: type
    workflow_id: str
    run_id: str
    arguments: Sequence[Payload]
    at: datetime
    continued_from: str | None = None


@dataclass(frozen=True)
class Circumstances:
    """What a workflow gets in addition to its jobs."""

    now: datetime
    events: int
    size: int
    suggest: bool = False
    """Whether Temporal suggests to continue as new."""
    newer_build: bool = False
    """Whether another build of the worker has become current."""
    replaying: bool = False


class TaskFailedError(AssertionError):
    """A workflow task failed; Temporal would retry it forever, and the run would be stuck."""


class Instance:
    """A workflow in memory, from its start."""

    def __init__(self, start: Start, *, plugin: SimplePlugin, sandboxed: bool) -> None:
        config = plugin.configure_replayer(
            ReplayerConfig(workflows=[], workflow_runner=SandboxedWorkflowRunner())
        )
        runner: WorkflowRunner = UnsandboxedWorkflowRunner()
        if sandboxed:
            runner = config["workflow_runner"]
        details = _details(start, config)
        self._start: Start | None = start
        self._instance = asyncio.run(_made(runner, details))

    def activate(self, jobs: Sequence[Job], told: Circumstances) -> tuple[list[Command], bytes]:
        """Continue the workflow; return its commands, and the same as bytes for comparison.

        Raises TaskFailedError.
        """
        activation = _activation(jobs, told)
        if self._start:
            _initialize(activation.jobs.add(), self._start)
            self._start = None
        completion = self._instance.activate(activation)
        if completion.HasField("failed"):
            failure = completion.failed.failure
            raise TaskFailedError(f"{failure.message}\n{failure.stack_trace}")
        commands = completion.successful.commands
        compared = b"".join(each.SerializeToString(deterministic=True) for each in commands)
        return [_read(each) for each in commands], compared

    def evict(self) -> None:
        """Evict it from memory, as a worker with a full cache does.

        Without this, an instance is never evicted.
        """
        job = Job()
        job.remove_from_cache.SetInParent()
        self._instance.activate(WorkflowActivation(run_id="evicted", jobs=[job]))


async def _made(runner: WorkflowRunner, details: WorkflowInstanceDetails) -> WorkflowInstance:
    """Create an instance, which requires a running event loop."""
    return runner.create_instance(details)


def _details(start: Start, config: ReplayerConfig) -> WorkflowInstanceDetails:
    converter = config["data_converter"]
    asked = WorkflowInterceptorClassInput(unsafe_extern_functions={})
    found = [each.workflow_interceptor_class(asked) for each in config["interceptors"]]
    return WorkflowInstanceDetails(
        payload_converter_factory=converter._new_payload_converter,
        failure_converter_class=converter.failure_converter_class,
        interceptor_classes=[each for each in found if each],
        defn=_Definition.must_from_class(start.workflow),
        info=_info(start),
        randomness_seed=1,
        extern_functions={"__temporal_assert_local_activity_valid": lambda _: None},
        disable_eager_activity_execution=False,
        worker_level_failure_exception_types=[],
        patch_activation_callback=None,
        last_completion_result=Payloads(),
        last_failure=None,
    )


def _info(start: Start) -> Info:
    return Info(
        attempt=1,
        continued_run_id=start.continued_from,
        cron_schedule=None,
        execution_timeout=None,
        first_execution_run_id="run-1",
        headers={},
        namespace="default",
        original_execution_run_id=start.run_id,
        parent=None,
        root=None,
        raw_memo={},
        retry_policy=None,
        run_id=start.run_id,
        run_timeout=None,
        search_attributes={},
        start_time=start.at,
        workflow_start_time=start.at,
        task_queue="fleetgate",
        task_timeout=timedelta(seconds=10),
        typed_search_attributes=TypedSearchAttributes.empty,
        workflow_id=start.workflow_id,
        workflow_type=str(_Definition.must_from_class(start.workflow).name),
        priority=Priority(),
    )


def _initialize(job: Job, start: Start) -> None:
    begun = job.initialize_workflow
    begun.workflow_type = str(_Definition.must_from_class(start.workflow).name)
    begun.workflow_id = start.workflow_id
    begun.arguments.extend(start.arguments)
    begun.randomness_seed = begun.attempt = 1
    begun.start_time.FromDatetime(start.at)


def _activation(jobs: Sequence[Job], told: Circumstances) -> WorkflowActivation:
    activation = WorkflowActivation(
        jobs=jobs,
        is_replaying=told.replaying,
        history_length=told.events,
        history_size_bytes=told.size,
        continue_as_new_suggested=told.suggest,
        target_worker_deployment_version_changed=told.newer_build,
    )
    activation.timestamp.FromDatetime(told.now)
    return activation
