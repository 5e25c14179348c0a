"""Durations as Go writes them, because users of the API type and read them that way.

contract: update-runs 2.2 (serialisation), 3 (pattern of waitTime)
"""

import re
from datetime import timedelta
from typing import Final

_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|h|m|s)")


def parse(text: str) -> timedelta:
    """Read a Go duration such as `1h30m`, `1.5h` or `0s`.

    Raises:
        ValueError: the text is no duration; the message names it and shows examples.
    """
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration; write it like 90s, 5m or 1h30m")
    return timedelta(seconds=sum(float(number) * _SECONDS[unit] for number, unit in parts))


def format_duration(value: timedelta) -> str:
    """Write a duration of whole milliseconds as Go does: `1m` becomes `1m0s`, `0` becomes `0s`."""
    milliseconds = round(value / timedelta(milliseconds=1))
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    seconds = f"{rest / 1000:g}s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds
