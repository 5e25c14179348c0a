"""Applying JSON patches (RFC 6902) as an API server does, as far as runs use them."""

import copy
from typing import Any


def apply(document: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the patched document; raise an error if the patch cannot be applied."""
    patched = copy.deepcopy(document)
    for operation in patch:
        assert set(operation) == {"op", "path", "value"}
        *parents, last = operation["path"].removeprefix("/").split("/")
        target: Any = patched
        for parent in parents:
            target = target[int(parent)] if isinstance(target, list) else target[parent]
        _set(target, last, operation["op"], copy.deepcopy(operation["value"]))
    return patched


def _set(target: Any, last: str, op: str, value: Any) -> None:
    if isinstance(target, list):
        if op == "add":
            assert int(last) <= len(target)
            target.insert(int(last), value)
        else:
            target[int(last)] = value
        return
    if op == "replace" and last not in target:
        raise KeyError(f"there is no {last} to replace")
    target[last] = value
