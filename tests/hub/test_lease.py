"""The content of a Lease, and when another process may take it."""

from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

import pytest

from hub import Json, lease
from hub.lease import LONGEST, LeaseView

LASTING = timedelta(seconds=10)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def held(**spec: Any) -> Json:
    return {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 10} | spec}


@pytest.mark.parametrize(
    ("before", "transitions"),
    [
        ({}, 0),
        ({"spec": {}}, 0),
        (held(), 0),
        (held(leaseTransitions=3), 4),
        (held(holderIdentity="", leaseTransitions=3), 4),
        (held(holderIdentity="me", leaseTransitions=3), 3),
    ],
)
def test_taking_a_lease_counts_as_a_transition_unless_it_was_its_own(
    before: Json, transitions: int
) -> None:
    after = lease.taken(before, "me", lasting=LASTING, at=NOON)
    assert after["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 10,
        "acquireTime": "2026-01-31T12:00:00.000000Z",
        "renewTime": "2026-01-31T12:00:00.000000Z",
        "leaseTransitions": transitions,
    }


def test_a_renewal_changes_only_its_time() -> None:
    before = held(acquireTime="then", renewTime="then", leaseTransitions=3)
    after = lease.renewed(before, lasting=LASTING, at=NOON)
    assert after["spec"] == before["spec"] | {"renewTime": "2026-01-31T12:00:00.000000Z"}


def test_fields_set_by_others_are_kept() -> None:
    before = {"metadata": {"name": "x", "labels": {"a": "b"}}} | held(preferredHolder="z")
    for after in (
        lease.taken(before, "me", lasting=LASTING, at=NOON),
        lease.renewed(before, lasting=LASTING, at=NOON),
        lease.released(before, at=NOON),
    ):
        assert after["metadata"] == before["metadata"]
        assert after["spec"]["preferredHolder"] == "z"


@pytest.mark.parametrize(
    ("body", "free_after"),
    [
        (held(), 10),
        (held(leaseDurationSeconds=15), 15),
        (held(leaseDurationSeconds=999_999), LONGEST),
        (held(leaseDurationSeconds=None), 10),
        (held(holderIdentity=""), 10),
        (held(holderIdentity=None), 10),
        (lease.released(held(), at=NOON), 0),
        ({"spec": {}}, 0),
    ],
)
def test_a_lease_is_free_when_it_was_released_or_has_expired(body: Json, free_after: float) -> None:
    sight = LeaseView()
    sight.note(body, now=100, lasting=LASTING)
    assert sight.free_at == 100 + free_after


def test_a_change_of_a_lease_extends_it() -> None:
    sight = LeaseView()
    for now in (100, 105):
        sight.note(held(), now=now, lasting=LASTING)
    assert sight.free_at == 115


def test_a_lease_that_was_never_seen_is_free() -> None:
    assert LeaseView().free_at == -inf


def test_a_deleted_lease_is_free_after_its_holder_must_have_stopped() -> None:
    sight = LeaseView()
    sight.note(held(leaseDurationSeconds=15), now=100, lasting=LASTING)
    sight.note(None, now=105, lasting=LASTING)
    assert sight.free_at == 120


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (held(acquireTime="1", renewTime="later"), True),
        (held(acquireTime="2"), False),
        (held(acquireTime="1", holderIdentity="b"), False),
        ({"spec": {}}, False),
    ],
)
def test_a_term_is_the_same_while_holder_and_start_are(other: Json, is_same: bool) -> None:
    assert lease.is_same_term(held(acquireTime="1"), other) is is_same
