"""Known advisories that do not affect fleetgate."""

from typing import Final

IGNORED: Final[dict[str, str]] = {}
"""The reason for ignoring each, by the advisory's id (`GHSA-…`, `PYSEC-…` or `CVE-…`)."""
