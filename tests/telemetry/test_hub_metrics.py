"""Metrics of the hub's answers and of the watches on it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from prometheus_client import CollectorRegistry

from telemetry import register_hub_answers, register_hub_watches

DURATION = "fleetgate_hub_request_duration_seconds"


@dataclass
class Answered:
    counts: list[int]
    seconds: float


@dataclass
class Followed:
    restarts: Counter[str] = field(default_factory=Counter)

    def running(self) -> Mapping[str, int]:
        return {"works": 2}

    def silence(self) -> Mapping[str, float]:
        return {"works": 1.5}


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_answers_are_a_histogram(registry: CollectorRegistry) -> None:
    answers: dict[tuple[str, str], Answered] = {}
    register_hub_answers(registry, answers, bounds=(0.1, 1.0))
    answers["get", "2xx"] = Answered([3, 0, 1], 7.5)
    labels = {"verb": "get", "code": "2xx"}
    for bound, count in {"0.1": 3, "1.0": 3, "+Inf": 4}.items():
        assert registry.get_sample_value(f"{DURATION}_bucket", labels | {"le": bound}) == count
    assert registry.get_sample_value(f"{DURATION}_count", labels) == 4
    assert registry.get_sample_value(f"{DURATION}_sum", labels) == 7.5


def test_watches_show_their_signs_of_life(registry: CollectorRegistry) -> None:
    followed = Followed()
    register_hub_watches(registry, followed)
    followed.restarts["works"] += 3
    labels = {"resource": "works"}
    assert registry.get_sample_value("fleetgate_hub_watches", labels) == 2
    assert registry.get_sample_value("fleetgate_hub_watch_silence_seconds", labels) == 1.5
    assert registry.get_sample_value("fleetgate_hub_watch_restarts_total", labels) == 3
