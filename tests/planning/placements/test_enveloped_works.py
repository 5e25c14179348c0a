"""Envelopes as Works of their own (contract: placement 8 and 10)."""

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest

from api import names
from api.kinds import Kind
from planning.envelopes import EnvelopeError
from planning.placements import rendering
from planning.placements.binding_steps import WorkReport
from planning.placements.rendering import BindingOwner, WorkChanges
from tests.planning.boxes import envelope, wrapped
from tests.planning.placements.works import (
    CLUSTER,
    NAMESPACED,
    binding,
    config_map,
    snapshots,
)

Json = dict[str, Any]
BOX = envelope("app", one=wrapped("a", "app"), two=wrapped("b", "app"))
SUFFIX = hashlib.sha256(b"ResourceEnvelope/app/box").hexdigest()[:16]


def changes(stored: list[Json], works: Sequence[Json] = (), **how: Any) -> WorkChanges:
    source = how.pop("source", CLUSTER)
    return rendering.changes(binding(), source, snapshots=stored, works=works, **how)


def test_an_envelope_becomes_a_work_of_its_own() -> None:
    plain, boxed = changes(snapshots(config_map("a"), BOX)).writes

    assert plain["spec"]["workload"]["manifests"] == [config_map("a")]
    assert boxed["metadata"]["name"] == f"p-work-envelope-{SUFFIX}"
    assert boxed["metadata"]["labels"] == {
        **plain["metadata"]["labels"],
        "kubernetes-fleet.io/envelope-work": "ResourceEnvelope",
        "kubernetes-fleet.io/envelope-name": "box",
        "kubernetes-fleet.io/envelope-namespace": "app",
    }
    assert boxed["metadata"]["annotations"] == plain["metadata"]["annotations"]
    manifests = boxed["spec"]["workload"]["manifests"]
    assert [each["metadata"]["name"] for each in manifests] == ["b", "a"]
    assert boxed["spec"]["applyStrategy"] == plain["spec"]["applyStrategy"]


def test_a_cluster_scoped_envelope_has_no_namespace_in_its_labels() -> None:
    (_, boxed) = changes(snapshots(envelope(one=wrapped("a")))).writes
    labels = boxed["metadata"]["labels"]
    assert labels[names.ENVELOPE_WORK] == "ClusterResourceEnvelope"
    assert names.ENVELOPE_NAMESPACE not in labels


def test_works_of_a_namespaced_placement_start_with_its_namespace() -> None:
    made = changes(snapshots(BOX), source=NAMESPACED)
    assert made.names == ("app.p-work", f"app.p-work-envelope-{SUFFIX}")


def test_an_envelope_alone_also_gives_an_empty_work() -> None:
    plain, _ = changes(snapshots(BOX)).writes
    assert plain["spec"]["workload"] == {"manifests": []}


def test_works_that_carry_the_envelope_are_left_alone() -> None:
    stored = snapshots(config_map("a"), BOX)
    works = changes(stored).writes
    assert changes(stored, works).writes == ()
    assert changes([], works).writes == ()


def test_the_work_of_a_removed_envelope_is_deleted() -> None:
    works = changes(snapshots(config_map("a"), BOX)).writes
    assert changes(snapshots(config_map("a")), works).deletions == (f"p-work-envelope-{SUFFIX}",)


def test_overrides_get_the_envelope_as_a_whole() -> None:
    def override(resources: Sequence[Json]) -> list[Json]:
        return [each | {"data": {"one": wrapped("changed", "app")}} for each in resources]

    _, boxed = changes(snapshots(BOX), override=override).writes
    assert boxed["spec"]["workload"]["manifests"] == [wrapped("changed", "app")]


def test_an_envelope_that_overrides_delete_becomes_an_empty_work() -> None:
    _, boxed = changes(snapshots(BOX), override=lambda _: []).writes
    assert boxed["spec"]["workload"] == {"manifests": []}


@pytest.mark.parametrize("source", [CLUSTER, NAMESPACED])
def test_an_invalid_envelope_stops_the_distribution(source: BindingOwner) -> None:
    with pytest.raises(EnvelopeError, match="a cluster scope object one"):
        changes(snapshots(envelope("app", one=wrapped("a"))), source=source)


def test_a_cluster_scoped_kind_is_misplaced_whatever_namespace_its_manifest_has() -> None:
    def served(api_version: str, kind: str) -> Kind | None:
        known = {"ClusterRole": False, "ConfigMap": True}
        if kind not in known or api_version != "v1":
            return None
        return Kind("", "v1", kind, "any", namespaced=known[kind])

    cluster_role = wrapped("a", "app") | {"kind": "ClusterRole"}
    with pytest.raises(EnvelopeError) as caught:
        changes(snapshots(envelope("app", one=cluster_role)), served=served)
    assert "a cluster scope object one (app/a) has been wrapped in a resource envelope app/box" in (
        str(caught.value)
    )

    # A kind that only the member serves is checked by its agent.
    for unknown in (cluster_role | {"apiVersion": "v2"}, wrapped("a", "app")):
        _, boxed = changes(snapshots(envelope("app", one=unknown)), served=served).writes
        assert boxed["spec"]["workload"]["manifests"] == [unknown]


def test_the_report_of_a_work_names_its_envelope() -> None:
    plain, boxed = changes(snapshots(config_map("a"), BOX)).writes
    boxed["metadata"]["generation"] = plain["metadata"]["generation"] = 1
    found = WorkReport.read(boxed).envelope
    assert found is not None
    assert found.to_wire() == {"name": "box", "namespace": "app", "type": "ResourceEnvelope"}
    assert WorkReport.read(plain).envelope is None


def test_envelopes_are_counted_in_the_snapshot() -> None:
    master, *_ = snapshots(config_map("a"), BOX, envelope(one=wrapped("a")))
    assert master["metadata"]["annotations"][names.NUMBER_OF_ENVELOPED_OBJECTS] == "2"
