"""What Argo CD has to know to judge the health of fleetgate's objects.

A Lua file says it once for the kinds of both scopes; `argocd-cm.yaml` holds all of them as Argo CD
reads them, written by `python -m deploy.argocd`.
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
    """Each kind that has a health check, and the file that holds it."""
    return [
        (kind, FOLDER / f"{name}.lua")
        for name in ("run", "approval", "placement")
        for kind in (getattr(scope, name) for scope in SCOPES.values())
    ]


def settings() -> str:
    """The ConfigMap that Argo CD reads health checks from, only with what is fleetgate's."""
    return _HEAD + "".join(_entry(kind, path.read_text("utf-8")) for kind, path in checks())


def _entry(kind: Kind, check: str) -> str:
    key = f"resource.customizations.health.{kind.group}_{kind.kind}"
    return f"  {key}: |\n{textwrap.indent(check, '    ')}"
