"""What an API server does with a JSON patch (RFC 6902), as far as runs use it."""

import copy
from typing import Any


def apply(document: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    """The patched document; raises what is wrong with a patch that does not fit."""
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
            target.insert(int(last), value)
        else:
            target[int(last)] = value
        return
    if op == "replace" and last not in target:
        raise KeyError(f"there is no {last} to replace")
    target[last] = value
