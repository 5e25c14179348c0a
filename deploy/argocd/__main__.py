"""Writes the health checks to the ConfigMap for Argo CD: `python -m deploy.argocd`."""

from deploy.argocd import SETTINGS, settings

SETTINGS.write_text(settings(), encoding="utf-8")
