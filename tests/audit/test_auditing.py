"""The audit of dependencies finds known advisories, and does not mistake silence for success."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.audit.auditing import Outcome, audit

ADVISORY = "PYSEC-2024-60"
_PROJECT = """
[project]
name = "some"
version = "1"
requires-python = ">=3.11"
dependencies = ["idna==3.6"]
"""
_LOCK = """
version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "idna"
version = "3.6"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "some"
version = "1"
source = { virtual = "." }
dependencies = [{ name = "idna" }]

[package.metadata]
requires-dist = [{ name = "idna", specifier = "==3.6" }]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that locks one package."""
    (tmp_path / "pyproject.toml").write_text(_PROJECT)
    (tmp_path / "uv.lock").write_text(_LOCK)
    return tmp_path


@contextmanager
def database(*advisories: str) -> Iterator[str]:
    """Run a local database with these advisories for idna; yield its address."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = [{"id": each, "modified": "2024-04-15T00:00:00Z"} for each in advisories]
            self._say({"results": [{"vulns": known} for _ in asked["queries"]]})

        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            package = {"ecosystem": "PyPI", "name": "idna"}
            affected = [{"package": package, "versions": ["3.6"]}]
            self._say({
                "id": name,
                "modified": "2024-04-15T00:00:00Z",
                "summary": "slow",
                "affected": affected,
            })  # fmt: skip

        def _say(self, answer: dict[str, object]) -> None:
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the output of tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def test_an_advisory_fails_the_check_and_is_named(project: Path) -> None:
    with database(ADVISORY) as service:
        found = audit(project, ignored={}, service=service)
    assert found.outcome is Outcome.FOUND, found.text
    assert ADVISORY in found.text
    assert found.is_failure(required=False)


def test_an_advisory_that_is_ignored_for_a_reason_does_not_fail_the_check(project: Path) -> None:
    with database(ADVISORY) as service:
        found = audit(
            project, ignored={ADVISORY: "no untrusted names are processed"}, service=service
        )
    assert found.outcome is Outcome.CLEAN, found.text


def test_packages_without_advisories_pass(project: Path) -> None:
    with database() as service:
        found = audit(project, ignored={}, service=service)
    assert found.outcome is Outcome.CLEAN, found.text
    assert not found.is_failure(required=True)


def test_an_unreachable_database_fails_the_check_only_if_the_audit_is_required(
    project: Path,
) -> None:
    found = audit(project, ignored={}, service="http://127.0.0.1:1/")
    assert found.outcome is Outcome.NOT_MADE, found.text
    assert not found.is_failure(required=False)
    assert found.is_failure(required=True)


def test_a_folder_without_a_lock_file_does_not_pass_the_audit(tmp_path: Path) -> None:
    found = audit(tmp_path, ignored={}, service="http://127.0.0.1:1/")
    assert found.outcome is Outcome.BROKEN, found.text
