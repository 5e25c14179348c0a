"""Advisories that are known and do not concern fleetgate."""

from typing import Final

IGNORED: Final[dict[str, str]] = {}
"""Why each does not matter here, by the advisory's id (`GHSA-…`, `PYSEC-…` or `CVE-…`)."""
