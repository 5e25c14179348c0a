"""The tests named in the security notes exist and cover every threat."""

import ast
import re

from tests.docs.pages import FOLDER

NOTES = (FOLDER / "operations" / "security.md").read_text()
ROOT = FOLDER.parent


def rows(heading: str) -> dict[str, str]:
    """Return the first and second columns of the table under a heading."""
    section = NOTES.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    found: dict[str, str] = {}
    for line in section.splitlines():
        if line.startswith("| "):
            threat, _, rest = line.strip("| ").partition(" | ")
            found[threat] = rest
    return {threat: rest for threat, rest in found.items() if threat not in ("threat", "---")}


def test_every_threat_is_listed_with_its_tests() -> None:
    threats, proofs = rows("Threats and mitigations"), rows("Tests")
    assert threats
    assert list(proofs) == list(threats)


def test_the_named_tests_exist() -> None:
    named = [each for row in rows("Tests").values() for each in re.findall("`(.+?)`", row)]
    assert named
    assert [each for each in named if not is_there(*each.split("::"))] == []


def is_there(module: str, test: str) -> bool:
    tree = ast.parse((ROOT / module).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(each, functions) and each.name == test for each in tree.body)


def test_only_threats_that_are_not_prevented_have_no_tests() -> None:
    unproved = [threat for threat, tests in rows("Tests").items() if tests == "none"]
    assert unproved == [
        "Someone uses a placement to read Secrets that they may not read",
        "Someone with access to Temporal controls a run",
    ]
