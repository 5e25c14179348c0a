"""CRDs only grow: after an upgrade every object, field and column still exists."""

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api import releases
from tests.api.additions import Json, breaks

ROOT = Path(__file__).parents[2]
NOW = releases.current()
RUNS = "clusterstagedupdateruns.placement.kubernetes-fleet.io"


@pytest.mark.parametrize("release", releases.names())
def test_crds_have_only_grown_since(release: str) -> None:
    told = []
    for name, before in releases.load(release).items():
        found = breaks(before, NOW[name]) if name in NOW else ["the kind is gone"]
        told += [f"{name}: {each}" for each in found]
    assert told == [], (
        f"objects and clients of release {release} would break: keep existing fields, make new "
        "ones optional, or serve a new API version next to the old one"
    )


def test_every_release_in_the_changelog_is_compared() -> None:
    released = re.findall(r"^## \[(\d\S*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    missing = set(released) - set(releases.names())
    assert missing == set(), "record each release: python -m tests.api.releases"
    assert releases.names()


def test_recorded_crds_are_the_ones_that_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "FOLDER", tmp_path)
    assert releases.record("9.9.9") == tmp_path / "9.9.9.json"
    assert releases.names() == ["9.9.9"]
    assert releases.load("9.9.9") == NOW


def schema(spec: Json) -> Json:
    found: Json = spec["versions"][-1]["schema"]["openAPIV3Schema"]
    return found


def field(spec: Json, path: str) -> Json:
    """Return the schema of a field such as `.spec.state` in the storage version."""
    found = schema(spec)
    for name in path.split(".")[1:]:
        found = found["properties"][name.removesuffix("[]")]
        found = found["items"] if name.endswith("[]") else found
    return found


def stored(spec: Json) -> Json:
    found: Json = spec["versions"][-1]
    return found


Change = Callable[[Json], Any]
STATE = ".spec.state"
STAGES = ".status.stagesStatus"

BREAKING: dict[str, tuple[Change, str]] = {
    "a field taken away": (
        lambda spec: field(spec, ".spec")["properties"].pop("state"),
        "v1beta1: .spec.state is gone",
    ),
    "a field of another type": (
        lambda spec: field(spec, ".spec.placementName").update(type="integer"),
        "v1beta1: .spec.placementName: type was string and is integer",
    ),
    "a value taken away": (
        lambda spec: field(spec, STATE)["enum"].remove("Stop"),
        "v1beta1: .spec.state: value Stop is gone",
    ),
    "values listed that were free": (
        lambda spec: field(spec, ".spec.placementName").update(enum=["a", "b"]),
        "v1beta1: .spec.placementName: only a, b are allowed now",
    ),
    "another default": (
        lambda spec: field(spec, STATE).update(default="Run"),
        "v1beta1: .spec.state: default was Initialize and is Run",
    ),
    "a shorter text": (
        lambda spec: field(spec, ".spec.placementName").update(maxLength=12),
        "v1beta1: .spec.placementName: maxLength was 255 and is 12",
    ),
    "a limit where there was none": (
        lambda spec: field(spec, STAGES).update(maxItems=3),
        "v1beta1: .status.stagesStatus: maxItems was nothing and is 3",
    ),
    "more needed than before": (
        lambda spec: field(spec, STAGES).update(minItems=1),
        "v1beta1: .status.stagesStatus: minItems was nothing and is 1",
    ),
    "another pattern": (
        lambda spec: field(spec, ".spec.placementName").update(pattern="^a"),
        "v1beta1: .spec.placementName: pattern was nothing and is ^a",
    ),
    "a field that has to be given": (
        lambda spec: field(spec, ".spec")["required"].append("state"),
        "v1beta1: .spec: state is required now",
    ),
    "a rule on what there was": (
        lambda spec: (
            field(spec, ".spec")
            .setdefault("x-kubernetes-validations", [])
            .append({"rule": "self.state != 'Stop'", "message": "no stopping"})
        ),
        "v1beta1: .spec: a new rule: no stopping",
    ),
    "a list with other keys": (
        lambda spec: field(spec, ".status.conditions").update(
            {"x-kubernetes-list-map-keys": ["reason"]}
        ),
        "v1beta1: .status.conditions: x-kubernetes-list-map-keys was ['type'] and is ['reason']",
    ),
    "a limit in the items of a list": (
        lambda spec: field(spec, f"{STAGES}[].stageName").update(maxLength=3),
        "v1beta1: .status.stagesStatus[].stageName: maxLength was nothing and is 3",
    ),
    "a column taken away": (
        lambda spec: stored(spec)["additionalPrinterColumns"].pop(0),
        "v1beta1: column Placement is gone",
    ),
    "a column of another field": (
        lambda spec: stored(spec)["additionalPrinterColumns"][0].update(jsonPath=".spec.other"),
        "v1beta1: column Placement shows another field",
    ),
    "no status any more": (
        lambda spec: stored(spec).pop("subresources"),
        "v1beta1 has no subresource status any more",
    ),
    "a version taken away": (lambda spec: spec["versions"].pop(0), "version v1 is gone"),
    "a version that is not served": (
        lambda spec: spec["versions"][0].update(served=False),
        "version v1 is not served any more",
    ),
    "another version that is stored": (
        lambda spec: stored(spec).update(storage=False),
        "version v1beta1 is not storage any more",
    ),
    "another scope": (
        lambda spec: spec.update(scope="Namespaced"),
        "scope was Cluster and is Namespaced",
    ),
    "another plural": (
        lambda spec: spec["names"].update(plural="runs"),
        "plural was clusterstagedupdateruns and is runs",
    ),
    "a short name taken away": (
        lambda spec: spec["names"].update(shortNames=[]),
        "shortNames has no csur any more",
    ),
}


@pytest.mark.parametrize("what", BREAKING)
def test_changes_that_break_clients_are_reported(what: str) -> None:
    change, told = BREAKING[what]
    changed = copy.deepcopy(NOW[RUNS])
    change(changed)
    assert breaks(NOW[RUNS], changed) == [told]


HARMLESS: dict[str, Change] = {
    "a new field": lambda spec: field(spec, ".spec")["properties"].update(note={"type": "string"}),
    "a new field with fields that it needs": lambda spec: field(spec, ".spec")["properties"].update(
        owner={"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    ),
    "a new value": lambda spec: field(spec, STATE)["enum"].append("Pause"),
    "any value": lambda spec: field(spec, STATE).pop("enum"),
    "a longer text": lambda spec: field(spec, ".spec.placementName").update(maxLength=999),
    "a text of any length": lambda spec: field(spec, ".spec.placementName").pop("maxLength"),
    "a field that need not be given": lambda spec: field(spec, ".spec").pop("required"),
    "a rule less": lambda spec: field(spec, ".spec").pop("x-kubernetes-validations"),
    "a new column": lambda spec: stored(spec)["additionalPrinterColumns"].append(
        {"name": "Note", "jsonPath": ".spec.note", "type": "string"}
    ),
    "a new version": lambda spec: spec["versions"].insert(
        0, copy.deepcopy(spec["versions"][0]) | {"name": "v2"}
    ),
    "a new short name": lambda spec: spec["names"]["shortNames"].append("run"),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_pure_additions_are_not_reported(what: str) -> None:
    changed = copy.deepcopy(NOW[RUNS])
    HARMLESS[what](changed)
    assert changed != NOW[RUNS]
    assert breaks(NOW[RUNS], changed) == []
