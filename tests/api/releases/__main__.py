"""Record the CRDs of the version in pyproject.toml, as part of releasing it."""

import sys

from deploy.packaging import version
from tests.api.releases import record

sys.stdout.write(f"{record(version())}\n")
