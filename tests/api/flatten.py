"""A schema as a flat table, one line per field, as in the contract's table of fields."""

from typing import Any

_KEPT = (
    "type",
    "format",
    "default",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
)


def flatten(schema: dict[str, Any], path: str = "") -> dict[str, dict[str, Any]]:
    """Map the path of each field (`.a.b`, `[]` for items, `{}` for values) to its schema."""
    table = {path or ".": _line(schema)}
    for name, field in schema.get("properties", {}).items():
        table |= flatten(field, f"{path}.{name}")
    if "items" in schema:
        table |= flatten(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        table |= flatten(schema["additionalProperties"], f"{path}{{}}")
    return table


def _line(schema: dict[str, Any]) -> dict[str, Any]:
    line = {key: schema[key] for key in _KEPT if key in schema}
    if rules := schema.get("x-kubernetes-validations"):
        line["rules"] = sorted(rule["message"] for rule in rules)
    if required := schema.get("required"):
        line["required"] = sorted(required)
    return line
