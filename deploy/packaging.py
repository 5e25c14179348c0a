"""Updates the files that packages copy from the sources: `python -m deploy.packaging`.

Charts and image repeat the version of pyproject.toml. Helm cannot read files outside a chart, so
the roles of `deploy/rbac` and the files of `deploy/observability` are copied into the charts.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent

_HUB_SIDE: Final = "deploy/helm/fleetgate"
_MEMBER_SIDE: Final = "deploy/helm/fleetgate-agent"
_COPIES: Final = {
    f"{_HUB_SIDE}/files": (
        "deploy/rbac/[!m]*.yaml",
        "deploy/observability/alerts.yaml",
        "deploy/observability/*.json",
    ),
    f"{_MEMBER_SIDE}/files": (
        "deploy/rbac/member-agent-on-member.yaml",
        "deploy/observability/agent-alerts.yaml",
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
    current = version(root)
    return copied | {
        path: re.sub(pattern, rf"\g<1>{current}", _read(root, path), flags=re.MULTILINE)
        for path, pattern in _VERSIONS.items()
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
