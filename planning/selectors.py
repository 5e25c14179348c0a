"""Label selectors: matching, and the errors that Kubernetes reports for invalid ones.

contract: update-runs 7.5 c and d
"""

import re
from collections.abc import Mapping
from typing import Final

from api.selectors import LabelSelector, LabelSelectorRequirement

_NAME: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])")
_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_PREFIX: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Return whether the labels match: no selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.match_labels
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _satisfied(requirement, labels) for requirement in selector.match_expressions
    )


def _satisfied(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    present = requirement.key in labels
    chosen = present and labels[requirement.key] in requirement.values
    return {
        "In": chosen,
        "NotIn": not chosen,
        "Exists": present,
        "DoesNotExist": not present,
    }[requirement.operator]


def problem(selector: LabelSelector | None) -> str | None:
    """Return what is wrong with a selector that the API server accepted, or None."""
    if selector is None:
        return None
    pairs = selector.match_labels
    problems = [_key_problem(key) or _value_problem(key, value) for key, value in pairs.items()]
    problems += [_requirement_problem(each) for each in selector.match_expressions]
    return next((each for each in problems if each), None)


def keys(selector: LabelSelector | None) -> set[str]:
    """Return the label keys that the selector uses."""
    if selector is None:
        return set()
    expressions = selector.match_expressions
    return set(selector.match_labels) | {each.key for each in expressions}


def _requirement_problem(requirement: LabelSelectorRequirement) -> str | None:
    operator, values = requirement.operator, requirement.values
    if operator not in _OPERATORS:
        return f'"{operator}" is not a valid label selector operator'
    if operator in ("In", "NotIn") and not values:
        return "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
    if operator in ("Exists", "DoesNotExist") and values:
        return "values: Invalid value: values set must be empty for exists and does not exist"
    bad_values = (_value_problem(requirement.key, value) for value in values)
    return _key_problem(requirement.key) or next((bad for bad in bad_values if bad), None)


def _key_problem(key: str) -> str | None:
    prefix, slash, name = key.rpartition("/")
    valid = _NAME.fullmatch(name) and len(name) <= 63
    if valid and (not slash or (_PREFIX.fullmatch(prefix) and len(prefix) <= 253)):
        return None
    return f'key: Invalid value: "{key}": must be a qualified name such as example.com/name'


def _value_problem(key: str, value: str) -> str | None:
    if len(value) <= 63 and _VALUE.fullmatch(value):
        return None
    return f'values[0][{key}]: Invalid value: "{value}": must be a valid label value'
