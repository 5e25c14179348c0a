"""Check of one worker by its metrics, if they are reachable: it is ready, its watches are alive."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from hub import Limits
from starter import words
from starter.doctor.findings import Finding, Setup, ok, problem, warning

_READY: Final = "fleetgate_ready"
_SILENCE: Final = "fleetgate_hub_watch_silence_seconds"
_FORWARD: Final = "`kubectl port-forward` brings a pod's metrics here"
SILENT: Final = Limits().silence
"""After this a worker considers a watch dead and opens another."""


async def reported(setup: Setup) -> Sequence[Finding]:
    """Read the metrics at the given address; return no findings if there is none."""
    if not setup.metrics:
        return []
    about = f"worker at {setup.metrics}"
    try:
        async with (
            aiohttp.ClientSession(trust_env=False) as session,
            session.get(f"http://{setup.metrics}/metrics") as answer,
        ):
            answer.raise_for_status()
            text = await answer.text()
    except (aiohttp.ClientError, OSError) as error:
        advice = (
            "check that the worker is running, and its FLEETGATE_METRICS_ADDRESS; reach the "
            "metrics of a pod with `kubectl port-forward`"
        )
        return [problem(about, f"does not answer: {error}", advice=advice)]
    return judge(about, _samples(text))


def _samples(text: str) -> Iterable[tuple[str, dict[str, str], float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value


def judge(about: str, samples: Iterable[tuple[str, dict[str, str], float]]) -> list[Finding]:
    """Judge whether the worker is ready and its watches are alive."""
    found = list(samples)
    ready = [value for name, _, value in found if name == _READY]
    silent = {
        labels.get("resource", ""): timedelta(seconds=value)
        for name, labels, value in found
        if name == _SILENCE
    }
    log = "its log says what it is waiting for"
    if not ready or not ready[0]:
        return [problem(about, "is not ready", advice=log)]
    late = {name: length for name, length in silent.items() if length > SILENT}
    if late:
        told = ", ".join(f"{name} for {words.age(length)}" for name, length in late.items())
        return [warning(about, f"its watches have been silent: {told}", advice=log)]
    longest = max(silent.values(), default=timedelta(0))
    watches = words.count(len(silent), "kind")
    return [ok(about, f"ready; watches {watches}, the quietest silent for {words.age(longest)}")]
