"""`python -m tests.language`: exit code 1 when a text has to be written in other words."""

import sys

from tests.language.reading import ROOT, uses, words

found = list(uses(ROOT, words()))
for each in found:
    sys.stderr.write(f"{each}\n")
sys.exit(bool(found))
