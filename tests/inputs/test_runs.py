"""Any strategy or run is refused with an explanation, or accepted and reports its progress."""

import asyncio
from collections.abc import Sequence
from functools import partial
from random import Random

import pytest
from temporalio.client import Client

from hub import HubError, Invalid, Json
from tests.inputs import written
from tests.inputs.workflow_tasks import failed_steps
from tests.support.conditions import condition_of, says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import workflow_id

pytestmark = pytest.mark.usefixtures("engine", "no_tracebacks")

SIDE_BY_SIDE = 8
FIELD = ("spec", "metadata.name", "spec.stages", "spec.state")
"""The API server's error for a refused value contains one of these."""


async def test_a_run_is_refused_with_the_field_or_reports_its_progress(
    placement: HandPlacement, unique: str, random: Random, amount: int, temporal: Client
) -> None:
    clusters = {
        f"{unique}-{number}": {"stage": str(number % 2), "env": "prod", "order": str(number)}
        for number in range(4)
    }
    clusters[f"{unique}-0"] |= {"odd-order": "1"}
    clusters[f"{unique}-1"] |= {"odd-order": "x1"}
    await placement.create(clusters, versions=2)
    wanted = [
        (
            f"{unique}-{number}",
            written.stages(random),
            written.run_spec(random, placement=unique, strategy=f"{unique}-{number}"),
        )
        for number in range(amount // 2)
    ]
    slots = asyncio.Semaphore(SIDE_BY_SIDE)

    async def write(name: str, stages: list[Json], spec: Json) -> str | None:
        async with slots:
            await _taken(placement, placement.scope.strategy, name, {"stages": stages})
            return name if await _taken(placement, placement.scope.run, name, spec) else None

    found = await asyncio.gather(*(write(*each) for each in wanted))
    names = [name for name in found if name]
    assert len(names) > amount // 8, "many must be accepted"
    for name in names:
        run = await eventually(partial(placement.read_run, name), _has_been_seen)
        status, reason, text = says(run, "Initialized")
        assert status == "True" or len(text) > len("cannot continue the updateRun: "), (
            name,
            reason,
        )
    runs = [await placement.read_run(name) for name in names]
    for run in runs:
        assert await failed_steps(temporal, workflow_id(run, placement.scope)) == []
    await _delete(placement, names)


def _has_been_seen(run: Json) -> bool:
    """Return whether a run reports that it is planned or not and, if it is to run, its progress."""
    initialized = says(run, "Initialized")[0]
    waits = run["spec"]["state"] == "Initialize"
    return initialized == "False" or (
        initialized == "True" and (waits or bool(condition_of(run, "Progressing")))
    )


async def _taken(placement: HandPlacement, kind: object, name: str, spec: Json) -> bool:
    """Create an object and return whether it was accepted; a refusal must name the field."""
    try:
        await placement.hub.create(kind, placement.body({"spec": spec}, name=name))  # type: ignore[arg-type]
    except Invalid as error:
        assert any(field in str(error) for field in FIELD), str(error)  # noqa: PT017
        return False
    return True


async def _delete(placement: HandPlacement, names: Sequence[str]) -> None:
    async def gone(name: str) -> None:
        await placement.delete_run(name)
        await eventually(lambda: _find(placement, name), lambda seen: seen is None)

    await asyncio.gather(*map(gone, names))


async def _find(placement: HandPlacement, name: str) -> Json | None:
    try:
        return await placement.hub.find(placement.scope.run, name, namespace=placement.namespace)
    except HubError:
        return {}
