"""Writes the health checks as Argo CD reads them: `python -m deploy.argocd`."""

from deploy.argocd import SETTINGS, settings

SETTINGS.write_text(settings(), encoding="utf-8")
