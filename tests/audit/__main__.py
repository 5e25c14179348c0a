"""`python -m tests.audit [--required]` exits with code 1 if there is something to do."""

import sys

from tests.audit.auditing import ROOT, Outcome, audit
from tests.audit.ignored import IGNORED

found = audit(ROOT, ignored=IGNORED)
if found.outcome is not Outcome.CLEAN:
    sys.stderr.write(f"{found.text}\n")
sys.stderr.write(f"dependencies: {found.outcome.value}\n")
for advisory, reason in IGNORED.items():
    sys.stderr.write(f"  ignored {advisory}: {reason}\n")
sys.exit(found.is_failure(required="--required" in sys.argv))
