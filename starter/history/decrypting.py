"""Decrypting the payloads of a workflow's history."""

import json
from collections.abc import Iterable, Iterator, Sequence

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import PayloadCodec

from workflows.encryption import EncryptedError, is_encrypted, what_is_needed


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
            told = json.loads(failure.encoded_attributes.data)
            failure.message = told.get("message", "")


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
        for part in _each(value):
            if isinstance(part, Message):
                yield part
                yield from _parts(part)


def _each(value: object) -> Iterable[object]:
    match value:
        case Message():
            return [value]
        case _ if hasattr(value, "values"):
            return list(value.values())
        case Iterable():
            return list(value)
    return []
