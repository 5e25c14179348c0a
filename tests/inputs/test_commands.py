"""Every command line is answered with a short message and a meaningful exit code."""

import io
import os
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starter import cli
from starter.failures import ExitCode

COMMANDS = [
    *("run list", "run show", "run explain", "run watch", "run history", "run create", "run start"),
    *("run stop", "run delete", "plan", "approve", "rollback", "snapshot list", "snapshot show"),
    *("snapshot diff", "completion", "crds", "search-attributes", "local status", "local logs"),
    *("local", "run", "snapshot", "", "rnu", "--version"),
]
"""All commands but those that keep running: worker, agent, demo, local up."""
OPTIONS = [
    *("-n", "--namespace", "-o", "--output", "--kubeconfig", "--context", "--index", "--state"),
    *("--placement", "--strategy", "--timeout", "--no-wait", "--until", "--exit-on-gate", "--by"),
    *("--comment", "--before", "--after", "--yes", "--all", "--name", "-f", "--file", "--debgu"),
    *(
        "--help",
        "-h",
        "--",
        "-",
        "--index=",
        "-oyaml",
        "-n=x",
        "--show-values",
        "--to",
        "--pending",
    ),
]
VALUES = st.one_of(
    st.sampled_from(
        [
            *(
                "web",
                "0",
                "-1",
                "latest",
                "now",
                "yaml",
                "table",
                "json",
                "Run",
                "Stop",
                "5m",
                "1h30m",
            ),
            *("5", "-5m", "99999999999h", "..", ".", "a/b", "a%2fb", "", " ", "x" * 64, "x" * 300),
            *(
                "*",
                "${HOME}",
                "ä",
                "\udcff",
                "a\nb",
                "\t",
                "٣",
                "{}",
                "[]",
                "--",
                "=",
                "a=b",
                "no.such",
            ),
        ]
    ),
    st.text(st.characters(exclude_characters="\0"), max_size=12),
)
TYPED = st.builds(
    lambda command, rest: [*command.split(), *rest],
    st.sampled_from(COMMANDS),
    st.lists(st.one_of(st.sampled_from(OPTIONS), VALUES), max_size=5),
)

NOWHERE = """\
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
clusters: [{name: nowhere, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: nobody, user: {}}]
"""
"""A kubeconfig for a hub that does not answer."""


@pytest.fixture(scope="module", autouse=True)
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a kubeconfig, in which all commands run."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "kubeconfig").write_text(NOWHERE)
    return folder


def typed(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Run a command line, and return its exit code, output and error output."""
    out, err = io.StringIO(), io.StringIO()
    before = dict(os.environ)
    os.environ.update(
        KUBECONFIG=str(folder / "kubeconfig"),
        TEMPORAL_ADDRESS="127.0.0.1:1",
        HOME=str(folder),
        NO_COLOR="1",
    )
    try:
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            code = cli.run(arguments)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return code, out.getvalue(), err.getvalue()


@given(arguments=TYPED)
def test_no_command_line_ends_in_a_traceback(arguments: list[str], nowhere: Path) -> None:
    code, _, said = typed(arguments, nowhere)
    assert code in set(ExitCode)
    assert "Traceback" not in said
    assert "this is a bug" not in said, said
    if code:
        assert said.startswith(("error: ", "using the local fleet", "Usage: ")), said


@given(value=VALUES)
def test_an_invalid_value_is_reported_with_its_option(value: str, nowhere: Path) -> None:
    for option in ("--timeout", "--output" if value != "-" else "--timeout"):
        words = ["run", "show", "x", option, value]
        if option == "--timeout":
            words[1] = "start"
        code, _, said = typed(words, nowhere)
        if code == ExitCode.USAGE:
            assert option in said or "-o" in said, said
