from hypothesis import given
from hypothesis import strategies as st

from api.works import AppliedResource, WorkResourceIdentifier
from planning.members.applied_resources import identity, left_over, record


def wanted(*names: str, version: str = "v1") -> list[WorkResourceIdentifier]:
    return [
        WorkResourceIdentifier(ordinal=number, version=version, kind="ConfigMap", name=name)
        for number, name in enumerate(names)
    ]


def recorded(*names: str, version: str = "v1") -> list[AppliedResource]:
    return [
        AppliedResource(ordinal=0, version=version, kind="ConfigMap", name=name, uid=f"uid-{name}")
        for name in names
    ]


def test_objects_that_the_work_no_longer_names_are_left_over() -> None:
    assert [each.name for each in left_over(recorded("a", "b"), wanted=wanted("b"))] == ["a"]


def test_another_version_of_the_same_object_is_not_left_over() -> None:
    assert left_over(recorded("a", version="v1"), wanted=wanted("a", version="v2")) == []


def test_a_record_keeps_known_uids_and_adds_new_ones() -> None:
    new = wanted("a", "b", "c")
    kept = record(recorded("a", "b"), wanted=new, uids={identity(new[1]): "fresh"})
    assert [each.uid for each in kept] == ["uid-a", "fresh", ""]


def test_a_manifest_without_kind_or_name_is_not_recorded() -> None:
    assert record([], wanted=[WorkResourceIdentifier(ordinal=0)], uids={}) == []


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_a_record_never_loses_an_object(before: set[str], after: set[str]) -> None:
    kept = record(recorded(*sorted(before)), wanted=wanted(*sorted(after)), uids={})
    assert {each.name for each in kept} == before | after
    assert len(kept) == len(before | after)
