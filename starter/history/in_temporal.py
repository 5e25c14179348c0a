"""Reading Temporal: which runs with a name it knows, and the decrypted history of each."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.converter import PayloadCodec
from temporalio.service import RPCError, RPCStatusCode

from planning.identity import RunRef
from starter.temporal import OutOfReach
from workflows.encryption import EncryptedError, is_encrypted, what_is_needed
from workflows.messages import WORKFLOW


@dataclass(frozen=True, slots=True)
class Known:
    """A run whose workflow Temporal still has."""

    uid: str
    started: datetime


async def find(client: Client, anyone: RunRef) -> list[Known]:
    """Find the runs with a name and namespace, latest first; the reference's uid is ignored.

    Raises OutOfReach.
    """
    prefix = anyone.model_copy(update={"uid": ""}).workflow_id + "/"
    quoted = prefix.replace("'", "''")
    query = f"WorkflowType = '{WORKFLOW}' AND WorkflowId STARTS_WITH '{quoted}'"
    started: dict[str, datetime] = {}
    try:
        async for execution in client.list_workflows(query):
            uid = execution.id.removeprefix(prefix)
            # A long run has several executions: it continues as new.
            started[uid] = min(execution.start_time, started.get(uid, execution.start_time))
    except RPCError as error:
        raise _out_of_reach(error) from error
    found = [Known(uid, at) for uid, at in started.items()]
    return sorted(found, key=lambda each: each.started, reverse=True)


async def history(client: Client, run: RunRef) -> list[HistoryEvent]:
    """Fetch the events of all executions of a run's workflow that Temporal still has, oldest first.

    Raises OutOfReach.
    """
    executions: list[list[HistoryEvent]] = []
    run_id: str | None = None  # the latest
    while run_id != "":
        found = await _execution(client, run.workflow_id, run_id)
        if not found:
            break  # older executions are past Temporal's retention
        executions.append(found)
        first = found[0].workflow_execution_started_event_attributes
        run_id = first.continued_execution_run_id
    events = [event for execution in reversed(executions) for event in execution]
    try:
        await decrypt(events, client.data_converter.payload_codec)
    except EncryptedError as error:
        raise OutOfReach(f"the run's history in Temporal cannot be read: {error}") from error
    return events


async def _execution(client: Client, workflow_id: str, run_id: str | None) -> list[HistoryEvent]:
    """Fetch the events of one execution; empty if it does not exist."""
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    try:
        return [event async for event in handle.fetch_history_events()]
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return []
        raise _out_of_reach(error) from error


def _out_of_reach(error: RPCError) -> OutOfReach:
    return OutOfReach(f"Temporal says: {error.message}")


# -- decrypting payloads -------------------------------------------------------------------


async def decrypt(events: Sequence[HistoryEvent], codec: PayloadCodec | None) -> None:
    """Decrypt the encrypted payloads of events, in place.

    Raises EncryptedError if the codec has no key for one of them.
    """
    for event in events:
        for payload in payloads_of(event):
            if is_encrypted(payload):
                payload.CopyFrom(await _decrypted(payload, codec))
        for failure in _failures(event):
            # The message of an error is in a payload, so that Temporal cannot read it either.
            decoded = json.loads(failure.encoded_attributes.data)
            failure.message = decoded.get("message", "")


async def _decrypted(payload: Payload, codec: PayloadCodec | None) -> Payload:
    (decrypted,) = await codec.decode([payload]) if codec else [payload]
    if is_encrypted(decrypted):
        raise EncryptedError(what_is_needed(payload))
    return decrypted


def payloads_of(event: HistoryEvent) -> Iterator[Payload]:
    """Return all payloads of an event, wherever they are in it."""
    return (each for each in _parts(event) if isinstance(each, Payload))


def _failures(event: HistoryEvent) -> Iterator[Failure]:
    found = (each for each in _parts(event) if isinstance(each, Failure))
    return (each for each in found if each.HasField("encoded_attributes"))


def _parts(message: Message) -> Iterator[Message]:
    """Yield all messages within a message, at any depth."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        for part in _each_of(value):
            if isinstance(part, Message):
                yield part
                yield from _parts(part)


def _each_of(value: object) -> Iterable[object]:
    match value:
        case Message():
            return [value]
        case _ if hasattr(value, "values"):
            return list(value.values())
        case Iterable():
            return list(value)
    return []
