"""What is wrong on one cluster, from its binding, its Works and its member."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from starter.explain import troubles
from starter.explain.looks import ClusterEvidence
from starter.explain.troubles import Trouble
from tests.starter.explaining import (
    GENERATION,
    NOW,
    binding,
    cluster_evidence,
    condition,
    failed,
    member,
    on_member,
    work,
)

OVERRIDDEN = condition("Overridden", "True", "NoOverrideSpecified")
SYNCED = condition("WorkSynchronized", "True", "AllWorkSynced")
APPLIED = condition("Applied", "True", "AllWorkHaveBeenApplied")
NOT_APPLIED = condition(
    "Applied", "False", "NotAllWorkHaveBeenApplied", "Work object web-work has failed to apply"
)
SILENT = NOT_APPLIED | {"message": "Work object web-work has not yet completed the apply op"}
NOT_AVAILABLE = condition(
    "Available", "False", "NotAllWorkAreAvailable", "Work object web-work is not yet available"
)
BEGUN = (OVERRIDDEN, SYNCED)
NOT_YET = "Manifest is not yet available; Fleet will check again later"
WEBHOOK = (
    "Failed to apply the manifest (error: failed to apply the manifest: failed to create the "
    'manifest object: error returned by the API server: admission webhook "tags.example.com" '
    "denied the request: no tag latest)"
)


def found(evidence: ClusterEvidence) -> list[Trouble]:
    return list(troubles.of_update("c1", evidence, on_member=on_member, now=NOW))


def only(evidence: ClusterEvidence) -> Trouble:
    (trouble,) = found(evidence)
    return trouble


# -- the binding -----------------------------------------------------------------------------


def test_a_cluster_without_a_binding_is_in_trouble() -> None:
    trouble = only(ClusterEvidence(member=member()))
    assert (trouble.subject, trouble.message) == ("cluster c1", "has no binding for the placement")
    assert trouble.commands == ("kubectl get membercluster c1",)


@pytest.mark.parametrize(
    ("blocking", "before", "message", "cause"),
    [
        (
            condition(
                "Overridden",
                "False",
                "OverriddenFailed",
                "Failed to apply the override rules on the resources: label key zone not found on "
                "cluster c1",
            ),
            (),
            "label key zone not found on cluster c1",
            "An override uses the label zone of cluster c1",
        ),
        (
            condition("Overridden", "False", "OverriddenFailed", "something new"),
            (),
            "something new",
            "An override could not be applied",
        ),
        (
            condition(
                "WorkSynchronized",
                "False",
                "SyncWorkFailed",
                'Failed to synchronize the work to the latest: namespaces "fleet-member-c1" not '
                "found",
            ),
            (OVERRIDDEN,),
            'namespaces "fleet-member-c1" not found',
            "Cluster c1 has no namespace on the hub",
        ),
        (
            condition("DiffReported", "False", "NotAllWorkHaveDiffReported", "web-work: no"),
            BEGUN,
            "web-work: no",
            "The member's agent could not compare some objects",
        ),
        (
            condition("Applied", "False", "SomebodysOwnReason", "who knows"),
            BEGUN,
            "who knows",
            "",
        ),
    ],
    ids=["override label", "override", "namespace", "diff", "foreign"],
)
def test_a_failed_step_is_reported_in_its_own_words_with_its_cause(
    blocking: dict[str, Any], before: tuple[dict[str, Any], ...], message: str, cause: str
) -> None:
    trouble = only(cluster_evidence(binding(*before, blocking)))
    assert trouble.subject == "binding web-c1-0a"
    assert trouble.message == message
    assert trouble.cause.startswith(cause)
    assert (trouble.condition, trouble.reason) == (blocking["type"], blocking["reason"])


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ((), "has the new snapshot, but nothing has been reported for it yet"),
        (
            [each | {"observedGeneration": GENERATION - 1} for each in (*BEGUN, NOT_APPLIED)],
            "has the new snapshot, but nothing has been reported for it yet",
        ),
    ],
    ids=["nothing", "of the old version"],
)
def test_a_binding_that_has_not_been_processed_is_reported(conditions: Any, message: str) -> None:
    assert only(cluster_evidence(binding(*conditions))).message == message


def test_a_changed_binding_is_reported() -> None:
    changed = binding(*BEGUN)
    changed.metadata.generation += 1
    expected = "was changed without a new RolloutStarted condition"
    assert only(cluster_evidence(changed)).message == expected


@pytest.mark.parametrize(
    "last",
    [
        condition("Available", "True", "AllWorkAreAvailable"),
        condition("DiffReported", "True", "AllWorkHaveDiffReported"),
        condition("Applied", "False", "ApplyInProgress", "Resources are being applied"),
    ],
    ids=["available", "compared", "busy"],
)
def test_a_healthy_or_busy_cluster_has_no_trouble(last: dict[str, Any]) -> None:
    assert found(cluster_evidence(binding(*BEGUN, last), member=member())) == []


# -- objects -----------------------------------------------------------------------------------


def test_an_object_that_does_not_work_is_named_with_commands_that_show_it() -> None:
    entry = failed("ManifestNotAvailableYet", NOT_YET)
    trouble = only(cluster_evidence(binding(*BEGUN, NOT_AVAILABLE, failedPlacements=[entry])))
    assert trouble.subject == "Deployment shop/web"
    assert trouble.message == NOT_YET
    assert "cannot pull their image" in trouble.cause
    assert trouble.commands == (
        "kubectl describe deployment web -n shop  # on c1",
        "kubectl get pods -n shop  # on c1",
    )


def test_a_refusal_is_shown_in_the_words_of_who_refused() -> None:
    entry = failed("ManifestApplyFailed", WEBHOOK)
    trouble = only(cluster_evidence(binding(*BEGUN, NOT_APPLIED, failedPlacements=[entry])))
    assert trouble.message == (
        'admission webhook "tags.example.com" denied the request: no tag latest'
    )
    assert trouble.cause == "The member's admission webhook tags.example.com rejects the object."


def test_an_object_without_a_message_is_explained_by_its_reason() -> None:
    entry = failed("NotYetAvailable", "")
    trouble = only(cluster_evidence(binding(*BEGUN, NOT_AVAILABLE, failedPlacements=[entry])))
    assert trouble.message == "Applied is False: NotYetAvailable"


def test_of_many_objects_the_first_are_named_and_the_others_counted() -> None:
    entries = [failed("ManifestNotAvailableYet", NOT_YET, name=f"web-{n}") for n in range(5)]
    told = found(cluster_evidence(binding(*BEGUN, NOT_AVAILABLE, failedPlacements=entries)))
    assert [each.subject for each in told] == [
        *(f"Deployment shop/web-{n}" for n in range(3)),
        "2 more objects",
    ]


def test_a_long_message_of_an_api_server_is_truncated() -> None:
    entry = failed("ManifestApplyFailed", "x" * 5000)
    trouble = only(cluster_evidence(binding(*BEGUN, NOT_APPLIED, failedPlacements=[entry])))
    assert len(trouble.message) == troubles.MAX_MESSAGE


def test_an_object_in_an_envelope_is_named_with_it() -> None:
    box = {"name": "box", "namespace": "shop", "type": "ResourceEnvelope"}
    entry = failed("ManifestNotAvailableYet", NOT_YET, envelope=box)
    trouble = only(cluster_evidence(binding(*BEGUN, NOT_AVAILABLE, failedPlacements=[entry])))
    assert trouble.subject == "Deployment shop/web (in ResourceEnvelope box)"


def drift(kind: str, *paths: str) -> dict[str, Any]:
    return {
        "group": "",
        "version": "v1",
        "kind": kind,
        "name": "web",
        "namespace": "shop",
        "observationTime": "2026-01-02T03:04:00Z",
        "targetClusterObservedGeneration": 1,
        "firstDriftedObservedTime": "2026-01-02T03:04:00Z",
        "observedDrifts": [
            {"path": each, "valueInMember": "of the member", "valueInHub": ""} for each in paths
        ],
    }


@pytest.mark.parametrize(
    ("kind", "paths", "lines"),
    [
        (
            "ConfigMap",
            ["/data/a"],
            ["/data/a is of the member on the member, absent on the hub"],
        ),
        ("Secret", ["/data/a"], ["/data/a differs"]),
        (
            "Secret",
            ["/data/a", "/data/b", "/data/c", "/data/d", "/data/e"],
            ["/data/a differs", "/data/b differs", "/data/c differs", "and 2 more differ"],
        ),
    ],
)
def test_changes_on_the_member_are_shown_but_no_secrets(
    kind: str, paths: list[str], lines: list[str]
) -> None:
    entry = failed("FoundDrifts", "drifts are found", kind=kind)
    drifts = [drift(kind, *paths), drift("ConfigMap", "/data/other") | {"name": "other"}]
    found_binding = binding(*BEGUN, NOT_APPLIED, failedPlacements=[entry], driftedPlacements=drifts)
    trouble = only(cluster_evidence(found_binding))
    assert list(trouble.details) == lines
    assert "changed on the member by hand" in trouble.cause


MANIFEST = {
    "identifier": {
        "ordinal": 0,
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
        "resource": "deployments",
        "namespace": "shop",
        "name": "web",
    },
    "conditions": [condition("Available", "False", "ManifestNotAvailableYet", NOT_YET)],
}


def test_without_failed_placements_the_works_are_used() -> None:
    works = (work(MANIFEST),)
    trouble = only(cluster_evidence(binding(*BEGUN, APPLIED, NOT_AVAILABLE), works=works))
    assert trouble.subject == "Deployment shop/web"


def test_bad_conditions_of_an_object_are_shown_if_its_status_is_reported_back() -> None:
    status = {
        "conditions": [
            condition("Available", "False", "MinimumReplicasUnavailable", "no minimum"),
            condition("Progressing", "True", "ReplicaSetUpdated", "going on"),
            condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota"),
        ]
    }
    back = {
        "observedStatus": {"apiVersion": "apps/v1", "kind": "Deployment", "status": status},
        "observationTime": "2026-01-02T03:04:00Z",
    }
    entry = failed("ManifestNotAvailableYet", NOT_YET)
    evidence = cluster_evidence(
        binding(*BEGUN, NOT_AVAILABLE, failedPlacements=[entry]),
        works=(work(MANIFEST | {"backReportedStatus": back}),),
    )
    assert only(evidence).details == (
        "its condition Available is False: no minimum",
        "its condition ReplicaFailure is True: exceeded quota",
    )


# -- the member --------------------------------------------------------------------------------


def test_a_member_that_has_not_reported_is_shown_with_its_last_heartbeat() -> None:
    trouble = only(cluster_evidence(binding(*BEGUN, SILENT), member=member()))
    assert trouble.details == ("its agent was last heard from 20s ago",)
    assert trouble.cause == "The member's agent has not reported on this snapshot yet."


@pytest.mark.parametrize(
    ("away", "message"),
    [
        (
            member(silent_for=timedelta(minutes=12)),
            (
                "cluster is not connected to the fleet: no recent heartbeat signals (last received "
                "12.00 minutes ago)"
            ),
        ),
        (
            member(deletionTimestamp="2026-01-02T03:00:00Z"),
            "cluster has left the fleet",
        ),
    ],
    ids=["silent", "left"],
)
def test_an_unreachable_member_is_reported(away: Any, message: str) -> None:
    told = found(cluster_evidence(binding(*BEGUN, SILENT), member=away))[-1]
    assert (told.subject, told.message) == ("member cluster c1", message)
    assert told.commands == ("kubectl describe membercluster c1",)


# -- clusters that are being removed or were taken over ---------------------------------------


def test_a_removal_names_the_works_that_still_exist() -> None:
    evidence = cluster_evidence(binding(), works=(work(),), member=member())
    (trouble,) = troubles.of_removal("c1", evidence, now=NOW)
    assert (trouble.subject, trouble.message) == ("Work web-work", "still exists")
    assert list(troubles.of_removal("c1", ClusterEvidence(member=member()), now=NOW)) == []


@pytest.mark.parametrize(
    ("run", "noticed", "message"),
    [
        ("v1", NOW, "was given other content by run v2"),
        ("v1", NOW - timedelta(hours=1), "now has the content of run v2, which came later"),
        ("v2", NOW, "was given other content by hand, or by rescheduling"),
    ],
    ids=["another run", "a later run", "unknown"],
)
def test_it_is_reported_who_took_over_a_cluster(run: str, noticed: datetime, message: str) -> None:
    (trouble,) = troubles.of_taken(run, cluster_evidence(binding()), at=noticed)
    assert trouble.message == message
    assert list(troubles.of_taken(run, ClusterEvidence(), at=noticed)) == []
