"""Input that people may write, as hypothesis strategies."""

from hypothesis import strategies as st

TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", " ", "0", "-1", "+0", "007", "1_0", "٣", "9" * 30, "x" * 300, "a/b", "${x}", "\u2028"]
    ),
)
"""Free text, and texts that are known to cause trouble."""

WAITS = st.from_regex(r"^(?:(?:0|[1-9][0-9]{0,4})(\.[0-9]{1,3})?(?:s|m|h)){1,3}$", fullmatch=True)
"""Durations that the API server accepts as a waitTime."""

LABEL_KEYS = st.sampled_from(["stage", "order", "example.com/zone", "a" * 63, "bad key", "", "/"])
LABEL_VALUES = st.sampled_from(["", "0", "1", "-1", "07", "x", "v" * 63, "v" * 64, "not valid!"])
"""Few values, so that they often match; some are invalid."""
