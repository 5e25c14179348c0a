"""Events as objects: their namespace, name and size limits."""

from datetime import timedelta

import pytest

from api.kinds import CLUSTER_APPROVAL_REQUEST
from planning import events
from planning.events import Event, EventSubject, EventType
from planning.identity import RunRef
from tests.planning.run_samples import CLUSTER_RUN, NAMESPACED_RUN, NOW

STOPPED = Event(reason="Stopped", message="it stands", at=NOW)


def name_of(event: Event, about: RunRef | EventSubject = CLUSTER_RUN, **key: str) -> str:
    subject = about if isinstance(about, EventSubject) else EventSubject.of(about)
    name: str = events.body(event, subject, **key)["metadata"]["name"]
    return name


def test_an_event_names_its_object_reason_message_and_reporter() -> None:
    body = events.body(STOPPED, EventSubject.of(NAMESPACED_RUN))
    del body["metadata"]["name"]
    assert body == {
        "metadata": {"namespace": "team"},
        "involvedObject": {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "StagedUpdateRun",
            "namespace": "team",
            "name": "v2",
            "uid": "u-2",
        },
        "type": "Normal",
        "reason": "Stopped",
        "message": "it stands",
        "action": "Stopped",
        "source": {"component": "fleetgate"},
        "reportingComponent": "fleetgate",
        "reportingInstance": "fleetgate",
        "count": 1,
        "eventTime": "2026-01-02T03:04:05.000000Z",
        "firstTimestamp": "2026-01-02T03:04:05Z",
        "lastTimestamp": "2026-01-02T03:04:05Z",
    }


def test_events_of_an_object_without_a_namespace_go_to_default() -> None:
    body = events.body(STOPPED, EventSubject.of(CLUSTER_RUN))
    assert body["metadata"]["namespace"] == "default"
    assert "namespace" not in body["involvedObject"]


def test_the_same_event_has_the_same_name() -> None:
    assert name_of(STOPPED) == name_of(STOPPED.model_copy())


@pytest.mark.parametrize(
    "other",
    [
        STOPPED.model_copy(update={"reason": "Resumed"}),
        STOPPED.model_copy(update={"message": "it stands again"}),
        STOPPED.model_copy(update={"at": NOW + timedelta(microseconds=1)}),
    ],
    ids=["reason", "message", "time"],
)
def test_a_different_event_has_a_different_name(other: Event) -> None:
    assert name_of(STOPPED) != name_of(other)


def test_an_object_with_the_same_name_has_its_own_events() -> None:
    again = CLUSTER_RUN.model_copy(update={"uid": "u-9"})
    assert name_of(STOPPED) != name_of(STOPPED, again)
    assert name_of(STOPPED, key="k") != name_of(STOPPED, again, key="k")


def test_with_a_key_only_the_key_decides() -> None:
    later = Event(type=EventType.WARNING, reason="x", message="y", at=NOW + timedelta(days=1))
    assert name_of(STOPPED, key="k") == name_of(later, key="k")
    assert name_of(STOPPED, key="k") != name_of(STOPPED, key="l")


def test_names_sort_by_time_because_kubectl_orders_by_name_within_a_second() -> None:
    moments = [NOW + timedelta(microseconds=each) for each in (0, 1, 17, 999_999)]
    names = [name_of(STOPPED.model_copy(update={"at": each})) for each in moments]
    assert names == sorted(names)


def test_a_long_name_is_cut_to_a_valid_one() -> None:
    name = "a" * 199 + "-" + "b" * 53
    made = name_of(STOPPED, EventSubject(CLUSTER_APPROVAL_REQUEST, "", name, "u-1"))
    assert made.startswith("a" * 199 + ".")
    assert len(made) <= 253


def test_a_long_message_is_cut() -> None:
    long = STOPPED.model_copy(update={"message": "x" * 5000})
    message = events.body(long, EventSubject.of(CLUSTER_RUN))["message"]
    assert message == "x" * 1021 + "…"


def test_simultaneous_events_keep_their_order() -> None:
    first, second = events.spaced([STOPPED, STOPPED])
    assert first.at == NOW
    assert second.at > first.at


@pytest.mark.parametrize(
    "message", ["x" * 1025, "ä" * 600, "…" * 400, "😀" * 300, "x" * 1023 + "ä"]
)
def test_a_message_has_at_most_as_many_bytes_as_the_api_accepts(message: str) -> None:
    event = Event(reason="Failed", message=message, at=NOW)
    written = events.body(event, EventSubject.of(CLUSTER_RUN))["message"]
    assert len(written.encode()) <= 1024
    assert written.endswith("…")
    assert message.startswith(written[:-1])
