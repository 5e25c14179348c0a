"""The lock file pins the source and the exact content of each package."""

import re
import subprocess
import tomllib

from tests.audit.auditing import ROOT, UV

PACKAGES = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
REGISTRY = {"registry": "https://pypi.org/simple"}


def test_every_package_is_from_pypi() -> None:
    others = [each["name"] for each in PACKAGES if each["source"] != REGISTRY]
    assert others == ["fleetgate"]


def test_every_file_of_a_package_has_a_hash() -> None:
    files = [
        (each["name"], file)
        for each in PACKAGES
        for file in [*each.get("wheels", []), *filter(None, [each.get("sdist")])]
    ]
    assert len(files) > len(PACKAGES)
    without = [name for name, file in files if not re.match("sha256:[0-9a-f]{64}$", file["hash"])]
    assert without == []


def test_packages_in_the_image_are_pinned_by_hashes() -> None:
    export = ("export", "--frozen", "--no-default-groups", "--no-emit-project", "--quiet")
    listed = subprocess.run(
        [UV, *export], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    logical = listed.replace("\\\n", " ").splitlines()
    requirements = [each for each in logical if each and not each.lstrip().startswith("#")]
    assert any(each.startswith("temporalio==") for each in requirements)
    assert [each for each in requirements if "--hash=sha256:" not in each] == []
