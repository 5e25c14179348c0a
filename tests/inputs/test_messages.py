"""Whatever is sent to a run through Temporal, the run continues, and updates get an answer."""

import asyncio
import json
from random import Random

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from tests.inputs.waiting_runs import waiting_run
from tests.inputs.workflow_tasks import failed_steps
from tests.support.conditions import condition_of
from tests.support.eventually import patience
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started, workflow_id

pytestmark = pytest.mark.usefixtures("engine", "no_tracebacks")

SIGNALS = ["pause", "resume", "approve", "approval_lost", "recheck", "restore", "nonsense"]
UPDATES = ["resume", "approve", "nonsense"]
LONG = "x" * 2_000_000
"""Nearly as long as Temporal accepts."""
VALUES: list[object] = [
    *(None, True, 0, -1, 7, 1.5, 10**30, 2**63, "", "one", "nope", "x" * 65, "sideways", "before"),
    *([], ["one"], {}, {"stage": "one"}, "\u2028", "\0"),
]
FIELDS = ["stage", "side", "by", "comment", "generation", "on_object", "reason", "unknown"]
ODD = [b"", b"{", b"\xff\xfe", b'{"stage": "\\ud800"}', b'"text"', b"null", b"[]", b"7", b"{}"]
SENDERS = 8


def raw(data: bytes, encoding: bytes = b"json/plain") -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


def message(random: Random) -> RawValue:
    """Return a payload: usually an object with odd fields; it never approves."""
    if random.random() < 0.2:
        return raw(random.choice(ODD[:-1]))
    if random.random() < 0.1:
        return raw(b"{}", random.choice([b"binary/plain", b"json/protobuf", b"", b"\xff"]))
    fields = {name: random.choice(VALUES) for name in random.sample(FIELDS, k=3)}
    fields |= {"stage": random.choice(["nope", 7, "x" * 65, None, LONG])}
    # Not a generation newer than the object's: it would be believed, as only the bridge sends one.
    fields["generation"] = random.choice([0, -1, 2**63, 10**30, "x", None])
    return raw(json.dumps(fields).encode()[:2_000_000])


async def test_no_odd_message_stops_a_run(
    placement: HandPlacement, unique: str, random: Random, amount: int, temporal: Client
) -> None:
    run = await waiting_run(placement, unique)
    workflow = temporal.get_workflow_handle(workflow_id(run, placement.scope))
    slots = asyncio.Semaphore(SENDERS)

    async def send(signal: str, payload: RawValue) -> None:
        async with slots:
            await workflow.signal(signal, payload)

    await asyncio.gather(*(send(random.choice(SIGNALS), message(random)) for _ in range(amount)))
    for _ in range(amount // 2):
        await _ask(workflow, random.choice(UPDATES), message(random))
    assert await failed_steps(temporal, workflow.id) == []

    await workflow.execute_update("resume", raw(b"{}"))
    answer = await workflow.execute_update(
        "approve",
        raw(json.dumps({"stage": "one", "by": "w" * 5000, "comment": LONG[:1_900_000]}).encode()),
    )
    assert "is approved" in str(answer)
    await started(placement, f"{unique}-a")
    await placement.report(f"{unique}-a")
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    assert await failed_steps(temporal, workflow.id) == []

    request = await placement.find_approval(f"{unique}-before-one")
    assert request is not None
    said = condition_of(request, "Approved")["message"]
    assert len(said) <= 32768
    assert said.endswith(")"), "who approved stays readable after a comment of any length"


async def _ask(workflow: WorkflowHandle[object, object], update: str, payload: RawValue) -> None:
    """Send an update, and check that there is an answer: what was done, or why not."""
    answer = ""
    try:
        async with asyncio.timeout(patience()):
            answer = str(await workflow.execute_update(update, payload))
    except WorkflowUpdateFailedError as refused:
        if isinstance(refused.cause, ApplicationError):
            answer = refused.cause.message
    assert 0 < len(answer) < 10_000
