"""ReportDiff: the agent reports how the member differs from the hub, and changes nothing."""

from typing import Any

import pytest

from api.kinds import APPLIED_WORK, CONFIG_MAP, NAMESPACE, WORK
from hub import Json
from tests.agent.support import Member, config_map, details, entry, live, namespace
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running

REPORT: dict[str, Any] = {"type": "ReportDiff"}
FOUND = "Diff has been found between the hub cluster and the member cluster"
NONE = "No diff has been found between the hub cluster and the member cluster"


async def compared(member: Member, name: str, *reasons: str) -> Json:
    """Wait until the manifests of a Work have been compared, with these results."""

    def shows(work: Json) -> bool:
        entries = work.get("status", {}).get("manifestConditions", [])
        said = [conditions_of(each) for each in entries]
        found = [{kind: one["reason"] for kind, one in each.items()} for each in said]
        return found == [{"DiffReported": reason} for reason in reasons]

    return await eventually(lambda: member.work(name), shows)


def summary(work: Json) -> tuple[str, ...]:
    said = conditions_of(work["status"])
    assert said.keys() == {"DiffReported"}
    assert said["DiffReported"]["observedGeneration"] == work["metadata"]["generation"]
    return tuple(said["DiffReported"][field] for field in ("status", "reason", "message"))


ALL = ("True", "AllManifestsDiffReported", "All the specified manifests have reported diff")


async def test_a_missing_object_is_reported_as_a_whole(member: Member, unique: str) -> None:
    async with running(member.agent()):
        await member.put(unique, namespace(f"{unique}-ns"), strategy=REPORT)
        work = await compared(member, unique, "FoundDiff")
    assert summary(work) == ALL
    assert conditions_of(entry(work))["DiffReported"]["message"] == FOUND
    whole = {"path": "/", "valueInHub": "(the whole object)"}
    assert details(work, "diff") == {"observedDiffs": [whole]}
    assert await member.cluster.find(NAMESPACE, f"{unique}-ns") is None
    assert await member.cluster.find(APPLIED_WORK, unique) is None


@pytest.mark.parametrize(
    ("comparison", "differences"),
    [
        ("PartialComparison", [{"path": "/data/k", "valueInHub": "v1", "valueInMember": "old"}]),
        (
            "FullComparison",
            [
                {"path": "/data/extra", "valueInMember": "theirs"},
                {"path": "/data/k", "valueInHub": "v1", "valueInMember": "old"},
            ],
        ),
    ],
)
async def test_differences_are_listed_and_the_object_is_left_unchanged(
    member: Member, unique: str, ns: str, comparison: str, differences: list[Json]
) -> None:
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old", extra="theirs"))
    before = await live(member, ns)
    async with running(member.agent()):
        strategy = REPORT | {"comparisonOption": comparison}
        # As on the hub, where Kubernetes has set the defaults.
        whole = namespace(ns) | {"spec": {"finalizers": ["kubernetes"]}}
        await member.put(unique, whole, config_map("cm", ns, k="v1"), strategy=strategy)
        work = await compared(member, unique, "NoDiffFound", "FoundDiff")
    assert summary(work) == ALL
    assert conditions_of(entry(work))["DiffReported"]["message"] == NONE
    assert "diffDetails" not in entry(work)
    assert details(work, "diff", 1) == {
        "observedInMemberClusterGeneration": 0,
        "observedDiffs": differences,
    }
    assert await live(member, ns) == before


async def test_differences_are_reported_again_when_the_object_changes(
    member: Member, unique: str, ns: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=REPORT)
        await compared(member, unique, "FoundDiff")
        await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="v1"))
        work = await compared(member, unique, "NoDiffFound")
        assert "diffDetails" not in entry(work)
        await member.cluster.delete(CONFIG_MAP, "cm", namespace=ns)
        await compared(member, unique, "FoundDiff")


async def test_a_manifest_that_the_member_would_refuse_is_compared_in_degraded_mode(
    member: Member, unique: str, ns: str
) -> None:
    immutable = config_map("cm", ns, k="old") | {"immutable": True}
    await member.cluster.create(CONFIG_MAP, immutable)
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=REPORT)
        work = await compared(member, unique, "FoundDiffInDegradedMode")
    assert summary(work) == ALL
    assert details(work, "diff")["observedDiffs"] == [
        {"path": "/data/k", "valueInHub": "v1", "valueInMember": "old"},
        {"path": "/immutable", "valueInMember": "true"},
    ]


async def test_a_manifest_that_cannot_be_compared_says_why_and_the_others_are_compared(
    member: Member, unique: str, ns: str
) -> None:
    stranger = {"apiVersion": "example.com/v1", "kind": "Stranger", "metadata": {"name": "x"}}
    async with running(member.agent()):
        await member.put(unique, stranger, namespace(ns), strategy=REPORT)
        work = await compared(member, unique, "FailedToReportDiff", "NoDiffFound")
    assert summary(work) == (
        "False",
        "SomeManifestsHaveNotReportedDiff",
        "Failed to report diff on all manifests (1 of 2 manifests have reported diff)",
    )
    assert conditions_of(entry(work))["DiffReported"]["message"] == (
        "An error blocks the diff reporting process (DecodingErred, error: failed to decode "
        "manifest: failed to find GVR from member cluster client REST mapping: no matches for "
        'kind "Stranger" in version "example.com/v1")'
    )


async def test_a_deleted_work_that_only_compared_leaves_the_member_unchanged(
    member: Member, unique: str, ns: str
) -> None:
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old"))
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=REPORT)
        await compared(member, unique, "FoundDiff")
        await member.hub.delete(WORK, unique, namespace=member.namespace)
        await member.gone(unique)
    assert await member.data("cm", ns) == {"k": "old"}


async def test_a_work_can_switch_between_comparing_and_applying(
    member: Member, unique: str, ns: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=REPORT)
        await compared(member, unique, "FoundDiff")
        await member.put(unique, config_map("cm", ns, k="v1"))
        work = await member.reported(unique)
        assert "diffDetails" not in entry(work)
        # Applied objects stay while the Work only compares.
        await member.put(unique, config_map("cm", ns, k="v2"), strategy=REPORT)
        work = await compared(member, unique, "FoundDiff")
        assert details(work, "diff")["observedDiffs"] == [
            {"path": "/data/k", "valueInHub": "v2", "valueInMember": "v1"}
        ]
        assert await member.data("cm", ns) == {"k": "v1"}
