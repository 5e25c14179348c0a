"""The YAML writer of the CRDs: a YAML reader reads back what it writes."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from api.crds.blocks import to_yaml

TRICKY = ["true", "No", "null", "~", "1", "1.5", ".inf", "a: b", "a #b", "- a", " a", "a ", "", "é"]
# Other characters are escaped differently in JSON and YAML; the CRDs do not use them.
characters = st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])
sentences = st.lists(st.text("ab,.#:-", min_size=1, max_size=9), max_size=40).map(" ".join)
texts = st.sampled_from(TRICKY) | st.text(characters, max_size=40) | sentences
keys = st.sampled_from(TRICKY) | st.text(characters, max_size=40)
scalars = texts | st.booleans() | st.integers()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(data=st.dictionaries(keys, values, min_size=1, max_size=3))
def test_written_yaml_reads_back(data: dict[str, Any]) -> None:
    assert yaml.safe_load(to_yaml(data)) == data


def test_yaml_looks_handwritten() -> None:
    data = {"spec": {"names": ["a", "b"], "scope": "Cluster", "served": True}}
    assert to_yaml(data) == "spec:\n  names:\n  - a\n  - b\n  scope: Cluster\n  served: true\n"
