"""Updates the files that packages copy from the sources: `python -m deploy.packaging`.

Charts and image repeat the version of pyproject.toml. Helm cannot read files outside a chart, so
the roles of `deploy/rbac`, the files of `deploy/observability` and what the charts have in common
(`common.tpl`, `definitions.json`) are copied into them. Each chart's values.yaml and README.md are
made from its values.schema.json.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from deploy import chart_values

ROOT: Final = Path(__file__).parent.parent

_CHARTS: Final = "deploy/helm"
_HUB_SIDE: Final = f"{_CHARTS}/fleetgate"
_MEMBER_SIDE: Final = f"{_CHARTS}/fleetgate-agent"
_ALERTS: Final = {
    _HUB_SIDE: "deploy/observability/alerts.yaml",
    _MEMBER_SIDE: "deploy/observability/agent-alerts.yaml",
}
_COPIES: Final = {
    f"{_HUB_SIDE}/files": (
        "deploy/rbac/[!m]*.yaml",
        _ALERTS[_HUB_SIDE],
        "deploy/observability/*.json",
    ),
    f"{_MEMBER_SIDE}/files": (
        "deploy/rbac/member-agent-on-member.yaml",
        _ALERTS[_MEMBER_SIDE],
    ),
}
"""The files that each folder holds copies of; the hub side has all roles except `member-…`."""
_VERSIONS: Final = {
    f"{_HUB_SIDE}/Chart.yaml": r"^((?:v|appV)ersion: )\S+$",
    f"{_MEMBER_SIDE}/Chart.yaml": r"^((?:v|appV)ersion: )\S+$",
    "Dockerfile": r"^(ARG VERSION=)\S+$",
}
"""The line that holds the version in each file."""


def version(root: Path = ROOT) -> str:
    """Return fleetgate's version, as pyproject.toml defines it."""
    found: str = _project(root)["project"]["version"]
    return found


def rooms(root: Path = ROOT) -> list[str]:
    """Return what is installed: the packages and the worker's module."""
    targets = _project(root)["tool"]["hatch"]["build"]["targets"]
    found: list[str] = targets["wheel"]["only-include"]
    return found


def texts(root: Path = ROOT) -> dict[str, str]:
    """Return the expected content of each generated file, by path relative to the root."""
    copied = {
        f"{folder}/{file.name}": file.read_text(encoding="utf-8")
        for folder, patterns in _COPIES.items()
        for pattern in patterns
        for file in sorted(root.glob(pattern))
    }
    for chart in _ALERTS:
        copied |= _of_chart(root, chart)
    current = version(root)
    return copied | {
        path: re.sub(pattern, rf"\g<1>{current}", _read(root, path), flags=re.MULTILINE)
        for path, pattern in _VERSIONS.items()
    }


def _of_chart(root: Path, chart: str) -> dict[str, str]:
    """Return what a chart has in common with the other one, and what is made from its schema."""
    definitions = json.loads(_read(root, f"{_CHARTS}/definitions.json"))
    own = json.loads(_read(root, f"{chart}/values.schema.json"))
    schema = chart_values.with_definitions(own, definitions)
    about = yaml.safe_load(_read(root, f"{chart}/Chart.yaml"))
    rules = yaml.safe_load(_read(root, _ALERTS[chart]))
    return {
        f"{chart}/templates/_common.tpl": _read(root, f"{_CHARTS}/common.tpl"),
        f"{chart}/values.schema.json": chart_values.dumped(schema),
        f"{chart}/values.yaml": chart_values.values_yaml(schema),
        f"{chart}/README.md": chart_values.readme(about, schema, rules),
    }


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Update the files; with `--check`, only compare them and return 1 if one is out of date.

    With `--tag`, change nothing and return 1 unless the tag names the version.
    """
    parser = argparse.ArgumentParser(prog="python -m deploy.packaging", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    parser.add_argument("--tag", help="only compare a tag, such as v1.2.3, with the version")
    chosen = parser.parse_args(arguments)
    if chosen.tag:
        return _compare_tag(chosen.tag, version(root))
    only_check = chosen.check
    wanted = texts(root)
    wrong = [path for path, text in wanted.items() if _read(root, path) != text]
    for path in wrong:
        if only_check:
            sys.stderr.write(f"{path} is out of date\n")
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(wanted[path], encoding="utf-8")
    if wrong and only_check:
        sys.stderr.write("to update the files: python -m deploy.packaging\n")
    return 1 if wrong and only_check else 0


def _compare_tag(tag: str, current: str) -> int:
    if tag == f"v{current}":
        return 0
    sys.stderr.write(
        f"tag {tag} does not name the version of pyproject.toml, which is {current}: "
        f"tag v{current}, or change the version first\n"
    )
    return 1


def _project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def _read(root: Path, path: str) -> str:
    file = root / path
    return file.read_text(encoding="utf-8") if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
