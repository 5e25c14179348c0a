"""Health checks that tell Argo CD how to assess fleetgate's objects.

Each Lua file serves the kinds of both scopes; `argocd-cm.yaml` holds all checks in the form that
Argo CD reads, written by `python -m deploy.argocd`.
"""

import textwrap
from pathlib import Path
from typing import Final

from api.kinds import SCOPES, Kind

FOLDER: Final = Path(__file__).parent
SETTINGS: Final = FOLDER / "argocd-cm.yaml"

_HEAD: Final = """\
# Generated from the Lua files next to this one by `python -m deploy.argocd`. Do not edit.
#   kubectl patch configmap argocd-cm -n argocd --patch-file argocd-cm.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
  namespace: argocd
data:
"""


def checks() -> list[tuple[Kind, Path]]:
    """Return each kind that has a health check, with the file that holds the check."""
    return [
        (kind, FOLDER / f"{name}.lua")
        for name in ("run", "approval", "placement")
        for kind in (getattr(scope, name) for scope in SCOPES.values())
    ]


def settings() -> str:
    """Return the ConfigMap that Argo CD reads health checks from, with only fleetgate's entries."""
    return _HEAD + "".join(_entry(kind, path.read_text("utf-8")) for kind, path in checks())


def _entry(kind: Kind, check: str) -> str:
    key = f"resource.customizations.health.{kind.group}_{kind.kind}"
    return f"  {key}: |\n{textwrap.indent(check, '    ')}"
