"""What a chart says of its values: values.yaml and README.md, made from its schema.

values.schema.json has the description and the default of each value. The default beside a `$ref`
takes precedence over those in the definition that it refers to.
"""

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

import yaml

from deploy.errors import DeployError

Json = dict[str, Any]
_WIDTH: Final = 110
_INDENT: Final = "  "
_REFERENCE: Final = "#/definitions/"
_README: Final = """\
<!-- Made from Chart.yaml, values.schema.json and the alert rules: python -m deploy.packaging -->

# {name}

{description}. [Install on clusters](../../../docs/operations/install.md) describes the
installation, with values for production.

## Values

The chart refuses names and values that are not listed here.

{values}

## Alerts

Created if `metrics.alerts.enabled` is true. `metrics.alerts.rules.NAME` changes a single alert:
`enabled`, `above` (its threshold, if it has one), `for` and `severity`.

{alerts}
"""
_NOT_WRITTEN: Final = frozenset({"global"})
"""Values that Helm itself defines."""


def with_definitions(schema: Json, definitions: Json) -> Json:
    """Return a schema with those of the definitions that it refers to, however indirectly."""
    own = {key: value for key, value in schema.items() if key != "definitions"}
    needed: set[str] = set()
    ahead = _referred(own)
    while ahead:
        needed |= ahead
        ahead = {each for name in ahead for each in _referred(definitions[name])} - needed
    return own | {"definitions": {key: definitions[key] for key in definitions if key in needed}}


def _referred(node: object) -> set[str]:
    """Return the names of the definitions that a part of a schema refers to itself."""
    if isinstance(node, dict):
        own = {node["$ref"].removeprefix(_REFERENCE)} if "$ref" in node else set()
        return own | {name for each in node.values() for name in _referred(each)}
    if isinstance(node, list):
        return {name for each in node for name in _referred(each)}
    return set()


class Value:
    """A value of a chart, or a group of values."""

    def __init__(self, schema: Json, path: tuple[str, ...], node: Json, given: object) -> None:
        self._schema = schema
        self.path = path
        self.definition = node.get("$ref", "").removeprefix(_REFERENCE)
        """Name of the definition that it has in common with other values; empty if none."""
        self.node = schema["definitions"][self.definition] if self.definition else node
        self.description: str = node.get("description", self.node.get("description", ""))
        self.is_given = given is not None
        """True if a group to which it belongs sets its default."""
        self._given = given if self.is_given else node.get("default")

    @property
    def name(self) -> str:
        """Its key."""
        return self.path[-1]

    @property
    def below(self) -> "list[Value]":
        """The values of a group; none of a single value."""
        if self._is_map():
            return []
        given = self._given if isinstance(self._given, dict) else {}
        return [
            Value(self._schema, (*self.path, key), node, given.get(key))
            for key, node in self.node.get("properties", {}).items()
            if key not in _NOT_WRITTEN
        ]

    def _is_map(self) -> bool:
        """Return whether no part of it has a default, as of Kubernetes' own objects."""
        parts = self.node.get("properties", {}).values()
        return not any({"default", "description", "$ref"} & set(each) for each in parts)

    @property
    def default(self) -> object:
        """Its default. Raises DeployError if the schema has none."""
        if self.below:
            return {each.name: each.default for each in self.below}
        found = self.node.get("default") if self._given is None else self._given
        if found is None:
            path = ".".join(self.path)
            raise DeployError(f"the value {path} has no default in {self._schema['title']}")
        return found

    @property
    def type(self) -> str:
        """Its type in words."""
        if "enum" in self.node:
            return " or ".join(f"`{each}`" for each in self.node["enum"])
        found = self.node.get("type", "object")
        return found if isinstance(found, str) else " or ".join(found)


def _values(schema: Json) -> list[Value]:
    return Value(schema, (), schema, None).below


def defaults(schema: Json) -> Json:
    """Return the default of every value."""
    return {each.name: each.default for each in _values(schema)}


def values_yaml(schema: Json) -> str:
    """Return values.yaml: the default of every value, with its description as a comment."""
    lines = [
        f"# {schema['title']}: python -m deploy.packaging makes them from values.schema.json,",
        "# which rejects any value not listed here.",
        "",
        *_written(_values(schema), told=set()),
    ]
    return "\n".join(lines) + "\n"


def _written(values: list[Value], *, told: set[str], indent: str = "") -> Iterator[str]:
    """Yield the lines of values; what belongs to a definition in `told` needs no comment again."""
    for value in values:
        yield from textwrap.wrap(
            value.description, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
        )
        has_comments = value.below and value.definition not in told
        line = f"{indent}{value.name}: {_flow(value.default)}"
        if not has_comments and len(line) <= _WIDTH:
            yield line
            continue
        yield f"{indent}{value.name}:"
        if has_comments:
            yield from _written(value.below, told=told, indent=indent + _INDENT)
            told |= {value.definition} - {""}
        else:
            yield from _entries(value.default, indent + _INDENT)


def _flow(value: object) -> str:
    dumped = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True
    )
    return dumped.removesuffix("\n").removesuffix("\n...").replace("''", '""')


def _entries(value: object, indent: str) -> Iterator[str]:
    """Yield each entry of a map on a line of its own."""
    assert isinstance(value, dict), "only a map is too long for a line"
    for key, each in value.items():
        yield f"{indent}{key}: {_flow(each)}"


def readme(chart: Json, schema: Json, rules: Json) -> str:
    """Return README.md: what the chart is, its values, and its alerts with their thresholds."""
    return _README.format(
        name=chart["name"],
        description=chart["description"],
        values="\n\n".join(_tables(schema)),
        alerts=_alerts(rules),
    )


def _tables(schema: Json) -> Iterator[str]:
    """Yield a table of the single values, and one for each group."""
    found = _values(schema)
    head = ("value", "type", "default", "description")
    yield _table(head, [_row(each) for each in found if not each.below])
    first: dict[str, str] = {}
    for value in found:
        if not value.below:
            continue
        yield f"### `{value.name}`"
        if value.description:
            yield value.description
        like = first.get(value.definition)
        if like:
            yield f"The values are those of [`{like}`](#{like}), with these defaults:"
        first.setdefault(value.definition or value.name, value.name)
        yield _table(head, [_row(each) for each in _leaves(value) if not like or each.is_given])


def _leaves(value: Value) -> Iterator[Value]:
    for each in value.below:
        yield from _leaves(each) if each.below else [each]


def _row(value: Value) -> tuple[str, ...]:
    default = _flow(value.default)
    shown = f"`{default}`" if default != '""' else ""
    return (f"`{'.'.join(value.path)}`", value.type, shown, value.description)


def _alerts(rules: Json) -> str:
    rows = [
        (
            f"`{rule['alert']}`",
            rule["labels"]["severity"],
            threshold(rule["expr"]),
            rule.get("for", ""),
        )
        for group in rules["groups"]
        for rule in group["rules"]
    ]
    return _table(("alert", "severity", "above", "for"), rows)


def threshold(expression: str) -> str:
    """Return the threshold of an alert: the number that its expression ends with, if any."""
    _, found, last = expression.rpartition(" > ")
    return last if found and last.replace(".", "").isdigit() else ""


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def dumped(schema: Json) -> str:
    """Return the text of a schema."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
