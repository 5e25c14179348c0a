"""Commands that `explain` suggests reach the right member, or nothing at all."""

import subprocess
from pathlib import Path

import click
import pytest
import yaml

from starter.explain.reaching import MemberContexts, reach
from starter.targets import Output, Target

LOOK = "get pods -n shop"


def target(folder: Path, *contexts: str) -> Target:
    """Make a target whose kubeconfig has these contexts."""
    path = folder / "config"
    named = [{"name": each, "context": {"cluster": "c", "user": "u"}} for each in contexts]
    path.write_text(yaml.safe_dump({"contexts": named}))
    return Target(path, None, "", Output.TABLE)


def test_the_context_with_the_members_name_is_used(tmp_path: Path) -> None:
    hub = target(tmp_path, "hub", "member1")
    on_member = reach(hub, {})
    assert on_member("member1", LOOK) == (
        f"kubectl --kubeconfig {hub.kubeconfig} --context member1 {LOOK}"
    )


@pytest.mark.parametrize(
    ("text", "context"),
    [("member1=eu", "eu"), ("*=prod-{member}", "prod-member1"), ("*=a-{member}, member1=eu", "eu")],
)
def test_the_configured_context_is_used(tmp_path: Path, text: str, context: str) -> None:
    named = MemberContexts().convert(text, None, None)
    told = reach(target(tmp_path, "member1"), named)("member1", LOOK)
    assert told.endswith(f"--context {context} {LOOK}")


def test_a_pasted_command_for_an_unknown_member_runs_nothing(tmp_path: Path) -> None:
    told = reach(target(tmp_path, "hub"), {})("member1", LOOK)
    assert told == f"kubectl --context <context of member1> {LOOK}"
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    kubectl.chmod(0o755)
    pasted = subprocess.run(
        ["/bin/sh", "-c", told], cwd=tmp_path, env={"PATH": str(tmp_path)}, check=False
    )
    assert pasted.returncode != 0
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", ["member1", "member1=", "=eu", "*=prod"])
def test_a_mapping_without_a_context_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write"):
        MemberContexts().convert(text, None, None)
