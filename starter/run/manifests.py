"""Manifests of update runs, in files or on standard input."""

from pathlib import Path

import click
import yaml
from pydantic import ValidationError

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE
from api.runs import UpdateRun
from hub import Json
from starter.failures import CommandFailure, ExitCode

_KINDS = (CLUSTER_SCOPE.run.kind, NAMESPACED_SCOPE.run.kind)


def read(filename: Path) -> UpdateRun:
    """Read the update run in a YAML or JSON file; `-` is standard input. Raises CommandFailure."""
    try:
        return UpdateRun.from_wire(_body(filename))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _refusal(filename, f"{where}: {first['msg']}") from error


def namespace(run: UpdateRun, asked_for: str) -> str:
    """Return the namespace that kubectl would use for a run; empty for a cluster-scoped one."""
    if run.kind == CLUSTER_SCOPE.run.kind:
        return ""
    return run.metadata.namespace or asked_for or "default"


def _body(filename: Path) -> Json:
    with click.open_file(str(filename)) as file:
        text = file.read()
    try:
        body = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _refusal(filename, f"not valid YAML: {error}") from error
    if not isinstance(body, dict) or body.get("kind") not in _KINDS:
        found = body.get("kind") if isinstance(body, dict) else type(body).__name__
        raise _refusal(filename, f"expected one {' or '.join(_KINDS)}, found {found}")
    return body


def _refusal(filename: Path, text: str) -> CommandFailure:
    return CommandFailure(f"{filename}: {text}", exit_code=ExitCode.USAGE)
