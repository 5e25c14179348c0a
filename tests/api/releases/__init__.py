"""The CRDs of each release, one file per release, without descriptions.

`python -m tests.api.releases` writes the file of the version in pyproject.toml.
"""

import json
from pathlib import Path
from typing import Any

from api.crds import MODELS, definition

Json = dict[str, Any]
FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the recorded releases."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(release: str) -> dict[str, Json]:
    """Return the CRDs of a release, by name."""
    found: dict[str, Json] = json.loads((FOLDER / f"{release}.json").read_text())
    return found


def current() -> dict[str, Json]:
    """Return the CRDs of the current models, by name."""
    found = [definition(model) for model in MODELS]
    return {each["metadata"]["name"]: without_descriptions(each["spec"]) for each in found}


def record(release: str) -> Path:
    """Write the file of a release, one line per CRD."""
    lines = [f'"{name}": {json.dumps(spec)}' for name, spec in sorted(current().items())]
    file = FOLDER / f"{release}.json"
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return file


def without_descriptions(value: Any) -> Any:
    """Return a CRD without its descriptions; fields named `description` stay."""
    if isinstance(value, list):
        return [without_descriptions(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_descriptions(each)
        for key, each in value.items()
        if not (key == "description" and isinstance(each, str))
    }
