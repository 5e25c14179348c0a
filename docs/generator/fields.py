"""The fields of an object, with a section for each of its parts, from its OpenAPI schema."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from api.markers import Schema
from docs.generator.markdown import literal, plain, slug, table

_COMMON = frozenset({"apiVersion", "kind", "metadata"})
"""Fields that every object has."""
_BOUNDS = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "entry"),
    "maxItems": ("at most", "entry"),
    "minProperties": ("at least", "entry"),
    "maxProperties": ("at most", "entry"),
    "minimum": ("at least", ""),
    "maximum": ("at most", ""),
}
_PLURALS = {"character": "characters", "entry": "entries", "": ""}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an object that has its own fields, such as `spec.stages[]`."""

    path: str
    schema: Schema

    @property
    def key(self) -> str:
        """A text that is equal for parts with the same fields, wherever they are in the object."""
        return json.dumps(self.schema, sort_keys=True)

    @property
    def fields(self) -> dict[str, Schema]:
        """The fields by name."""
        properties: dict[str, Schema] = self.schema["properties"]
        hidden = _COMMON if not self.path else frozenset()
        return {name: field for name, field in properties.items() if name not in hidden}


def sections(schema: Schema) -> str:
    """Return a section for the object and for each of its parts; equal parts are described once."""
    parts: dict[str, Part] = {}
    for part in _parts(Part("", schema)):
        parts.setdefault(part.key, part)
    paths = {key: part.path for key, part in parts.items()}
    return "\n\n".join(_section(part, paths) for part in parts.values())


def _parts(part: Part) -> Iterator[Part]:
    """Yield a part and all parts nested in it, outer parts first."""
    yield part
    for name, field in part.fields.items():
        suffix, inner = _inner(field)
        if "properties" in inner:
            yield from _parts(Part(f"{part.path}.{name}{suffix}".removeprefix("."), inner))


def _inner(field: Schema) -> tuple[str, Schema]:
    """Return the suffix of the field's name for a list or map, and the schema of its elements."""
    if field.get("type") == "array":
        suffix, inner = _inner(field["items"])
        return f"[]{suffix}", inner
    if isinstance(values := field.get("additionalProperties"), dict):
        suffix, inner = _inner(values)
        return f".*{suffix}", inner
    return "", field


def _section(part: Part, paths: dict[str, str]) -> str:
    required = set(part.schema.get("required", ()))
    rows = [
        (literal(name), _type(field, paths), _told(field, required=name in required))
        for name, field in part.fields.items()
    ]
    texts = [f"## {part.path or 'Fields'}"]
    if part.path:
        texts.append(plain(part.schema.get("description", "")))
    texts += [table(("field", "type", "what it says"), rows), _refusals(part.schema)]
    return "\n\n".join(text for text in texts if text)


def _type(field: Schema, paths: dict[str, str]) -> str:
    if field.get("type") == "array":
        return f"list of {_type(field['items'], paths)}"
    if isinstance(values := field.get("additionalProperties"), dict):
        return f"map to {_type(values, paths)}"
    if "properties" in field:
        path = paths[Part("", field).key]
        return f"[object](#{slug(path)})"
    if field.get("x-kubernetes-int-or-string"):
        return "integer or string"
    if field.get("x-kubernetes-embedded-resource"):
        return "any Kubernetes object"
    if field.get("format") == "date-time":
        return "time"
    return str(field.get("type", "anything"))


def _told(field: Schema, *, required: bool) -> str:
    limits = [*_limits(field, required=required)]
    texts = [plain(field.get("description", "")), f"*{'; '.join(limits)}*" if limits else ""]
    # A part with fields has its own section for these.
    texts += [] if "properties" in field else [_refusals(field)]
    return "<br>".join(each for each in texts if each).replace("\n", " ")


def _limits(field: Schema, *, required: bool) -> Iterator[str]:
    if required:
        yield "required"
    if "default" in field:
        yield f"default {literal(json.dumps(field['default']).strip(chr(34)))}"
    if "enum" in field:
        yield f"one of {', '.join(literal(each) for each in field['enum'])}"
    for name, (bound, noun) in _BOUNDS.items():
        if name in field:
            count = field[name]
            yield f"{bound} {count} {noun if count == 1 else _PLURALS[noun]}".rstrip()
    if "pattern" in field:
        yield f"matches {literal(field['pattern'])}"


def _refusals(schema: Schema) -> str:
    rules = schema.get("x-kubernetes-validations", ())
    texts = [f"“{plain(rule['message'])}”" for rule in rules]
    return f"Refused with: {'; '.join(texts)}." if texts else ""
