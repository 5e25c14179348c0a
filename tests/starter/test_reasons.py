"""The table of condition reasons: complete, without duplicates, in short sentences."""

from collections import Counter
from enum import StrEnum

import pytest

from api import reasons
from api.reasons import BindingReason, ConditionType, ManifestReason
from starter.explain.reasons import ALL, find
from starter.explain.reasons.entries import Holder, ReasonEntry

HOLDERS = {
    "RunReason": {Holder.RUN},
    "StageReason": {Holder.STAGE},
    "ClusterReason": {Holder.CLUSTER},
    "JoinReason": {Holder.REPORT},
    "TaskReason": {Holder.GATE},
    "ApprovalReason": {Holder.APPROVAL},
    "BindingReason": {Holder.BINDING},
    "WorkReason": {Holder.WORK},
    "ManifestReason": {Holder.MANIFEST},
    "SchedulingReason": {Holder.POLICY, Holder.PLACEMENT},
    "PlacementReason": {Holder.PLACEMENT, Holder.PLACED},
    "MemberReason": {Holder.MEMBER, Holder.AGENT},
}
"""Holders of the conditions that use the reasons of each enumeration."""
ENUMERATIONS: list[type[StrEnum]] = [
    getattr(reasons, name) for name in reasons.__all__ if name.endswith("Reason")
]


def label(entry: ReasonEntry) -> str:
    return f"{entry.kind} {entry.condition} {entry.reason}"


@pytest.mark.parametrize("enumeration", ENUMERATIONS, ids=lambda each: each.__name__)
def test_every_reason_of_the_api_is_explained(enumeration: type[StrEnum]) -> None:
    holders = HOLDERS[enumeration.__name__]
    assert {each.reason for each in ALL if each.kind in holders} >= set(enumeration)


@pytest.mark.parametrize("holder", Holder)
def test_no_other_reason_is_explained(holder: Holder) -> None:
    known = {
        reason
        for enumeration in ENUMERATIONS
        if holder in HOLDERS[enumeration.__name__]
        for reason in enumeration
    }
    explained = {each.reason for each in ALL if each.kind is holder}
    assert explained
    assert explained <= known


def test_a_placements_reasons_belong_to_their_conditions() -> None:
    pairs = {(each.condition, each.reason) for each in ALL if each.kind is Holder.PLACED}
    assert {(kind, each.reason) for kind, each in reasons.PENDING.items()} <= pairs
    whole = {(each.condition, each.reason) for each in ALL if each.kind is Holder.PLACEMENT}
    wordings = {
        (kind, each.reason)
        for kind, words in reasons.AGGREGATES.items()
        for each in (words.unknown, words.failed, words.done)
    }
    assert wordings <= whole


def test_nothing_is_explained_twice() -> None:
    assert [each for each, count in Counter(map(label, ALL)).items() if count > 1] == []


@pytest.mark.parametrize("entry", ALL, ids=label)
def test_cause_and_fix_are_short_sentences(entry: ReasonEntry) -> None:
    assert entry.condition in set(ConditionType) or entry.kind is Holder.REPORT
    for text in (entry.cause, entry.fix):
        assert text[0].isupper() or text.startswith(("`", "failed", "diffed", "drifted", "status."))
        assert text.endswith(".")
        assert len(text) <= 260


def test_an_entry_is_found_by_holder_type_and_reason() -> None:
    found = find(Holder.BINDING, condition="Available", reason=BindingReason.NOT_ALL_AVAILABLE)
    assert found
    assert "failedPlacements" in found.fix
    assert find(Holder.BINDING, condition="Applied", reason=ManifestReason.APPLIED) is None
