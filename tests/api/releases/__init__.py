"""The definitions of each release, one file a release, without descriptions.

`python -m tests.api.releases` writes the file of the version in pyproject.toml.
"""

import json
from pathlib import Path
from typing import Any

from api.crds import MODELS, definition

Json = dict[str, Any]
FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The releases that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(release: str) -> dict[str, Json]:
    """The definitions of a release, by their names."""
    found: dict[str, Json] = json.loads((FOLDER / f"{release}.json").read_text())
    return found


def current() -> dict[str, Json]:
    """The definitions as the models have them now, by their names."""
    found = [definition(model) for model in MODELS]
    return {each["metadata"]["name"]: without_descriptions(each["spec"]) for each in found}


def record(release: str) -> Path:
    """Write the file of a release, a line for each definition."""
    lines = [f'"{name}": {json.dumps(spec)}' for name, spec in sorted(current().items())]
    file = FOLDER / f"{release}.json"
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return file


def without_descriptions(value: Any) -> Any:
    """The definition without the texts for people; a field of that name stays."""
    if isinstance(value, list):
        return [without_descriptions(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_descriptions(each)
        for key, each in value.items()
        if not (key == "description" and isinstance(each, str))
    }
