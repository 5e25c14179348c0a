"""The CRDs match the contract's table of fields, except for the decisions."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.base import KubernetesObject
from api.crds import MODELS, definition, file_name, render
from api.crds.__main__ import main
from tests.api.flatten import flatten

ROOT = Path(__file__).parents[2]
CONTRACT: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "docs" / "contract" / "fields.json").read_text()
)

STAGE_NAME = {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
STAGES = {
    "type": "array",
    "maxItems": 31,
    "rules": ["stage names must be unique: give each stage a name of its own"],
}
DECISION_2 = {
    ".spec.stages": STAGES,
    ".spec.stages[].name": STAGE_NAME,
    ".status.stagedUpdateStrategySnapshot.stages": STAGES,
    ".status.stagedUpdateStrategySnapshot.stages[].name": STAGE_NAME,
}
"""Stage names are DNS labels, and unique."""
DECISION_18 = "resourceSnapshotIndex is immutable"
"""Also a rule on the whole spec: an index can be neither added nor removed."""
DECISION_4 = {
    "name": "ApprovalAccepted",
    "jsonPath": '.status.conditions[?(@.type=="ApprovalAccepted")].status',
    "type": "string",
}
"""Approval requests show in an extra column whether the approval was accepted."""
DECISION_16 = {"v1alpha1"}
"""Not served."""

of_each_kind = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
OF_THE_CONTRACT = [model for model in MODELS if model.resource.kind.group != "fleetgate.dev"]
"""KubeFleet's kinds, in the contract; what fleetgate adds has a group of its own."""
of_each_kind_of_the_contract = pytest.mark.parametrize(
    "model", OF_THE_CONTRACT, ids=lambda model: model.__name__
)


def contract_of(model: type[KubernetesObject]) -> dict[str, Any]:
    return CONTRACT[model.resource.kind.kind]


def test_every_kind_of_the_contract_has_a_crd() -> None:
    assert {model.resource.kind.kind for model in OF_THE_CONTRACT} == set(CONTRACT)


@of_each_kind_of_the_contract
def test_fields_match_the_contract(model: type[KubernetesObject]) -> None:
    wanted = dict(contract_of(model)["fields"])
    wanted |= {path: line for path, line in DECISION_2.items() if path in wanted}
    if "UpdateRun" in model.__name__:
        spec = wanted[".spec"]
        wanted[".spec"] = spec | {"rules": sorted([*spec["rules"], DECISION_18])}
    for version in definition(model)["spec"]["versions"]:
        table = flatten(version["schema"]["openAPIV3Schema"])
        assert table == wanted


@of_each_kind_of_the_contract
def test_names_and_versions_match_the_contract(model: type[KubernetesObject]) -> None:
    wanted = contract_of(model)
    spec = definition(model)["spec"]
    assert spec["group"] == wanted["group"]
    assert spec["scope"] == wanted["scope"]
    assert spec["names"]["plural"] == wanted["plural"]
    assert spec["names"].get("shortNames", []) == wanted["shortNames"]
    assert spec["names"]["categories"] == wanted["categories"]
    served = {version["name"] for version in spec["versions"] if version["served"]}
    assert served == set(wanted["versionsServed"]) - DECISION_16
    assert [each["name"] for each in spec["versions"] if each["storage"]] == ["v1beta1"]


@of_each_kind_of_the_contract
def test_columns_and_subresources_match_the_contract(model: type[KubernetesObject]) -> None:
    columns = list(contract_of(model)["columns"])
    if "ApprovalRequest" in model.__name__:
        columns.insert(3, DECISION_4)
    for version in definition(model)["spec"]["versions"]:
        assert version.get("additionalPrinterColumns", []) == columns
        assert list(version.get("subresources", {})) == contract_of(model)["subresources"]


@of_each_kind
def test_every_field_is_described(model: type[KubernetesObject]) -> None:
    def undescribed(schema: dict[str, Any], path: str) -> list[str]:
        own = [] if path == ".metadata" or schema.get("description") else [path]
        for name, field in schema.get("properties", {}).items():
            own += undescribed(field, f"{path}.{name}")
        for field in filter(None, [schema.get("items")]):
            own += [each for each in undescribed(field, f"{path}[]") if each != f"{path}[]"]
        return own

    version = definition(model)["spec"]["versions"][0]
    assert undescribed(version["schema"]["openAPIV3Schema"], "") == []


def test_the_crd_files_match_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(ROOT / "deploy" / "crds")]) == 0, capsys.readouterr().err


def test_outdated_crd_files_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    drifted, lost = (tmp_path / file_name(model) for model in MODELS[:2])
    drifted.write_text("kind: Other\n")
    lost.unlink()
    (tmp_path / "stranger.yaml").write_text("")
    assert main(["--check", str(tmp_path)]) == 1
    complaints = capsys.readouterr().err
    assert f"{drifted} is missing or out of date" in complaints
    assert f"{lost} is missing or out of date" in complaints
    assert f"{tmp_path / 'stranger.yaml'} has no model: delete it" in complaints


@of_each_kind
def test_the_rendered_crd_reads_back(model: type[KubernetesObject]) -> None:
    assert yaml.safe_load(render(model)) == definition(model)
