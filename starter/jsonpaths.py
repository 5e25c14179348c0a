"""kubectl's JSONPath: templates of `-o jsonpath=…` and columns of `-o custom-columns=…`.

The paths themselves are those of RFC 9535, except that kubectl starts them without `$`, and its
names may contain `-` or an escaped dot: these are put in brackets and quotes.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jsonpath
from jsonpath import JSONPath, JSONPathError

NOTHING: Final = "<none>"
"""What a column shows for an object without the field."""

_NAME: Final = re.compile(
    r"""(?P<kept>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<![\w.])\d+(?:\.\d+)?)"""
    r"""|(?P<dots>\.\.?)(?P<name>(?:\\.|[^\s.\[\](){}'"\\=!<>&|,*])+)"""
)
_PART: Final = re.compile(
    r"""\{(?P<code>(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*)\}|(?P<text>[^{}]+)|(?P<wrong>.)""",
    re.DOTALL,
)


class TemplateError(ValueError):
    """A template or path cannot be used; the text says why."""


Render = Callable[[Any], str]
"""Returns the text that a part of a template makes of data."""


def template(text: str) -> Render:
    r"""Parse a template such as `{range .items[*]}{.metadata.name}{"\n"}{end}`.

    Text outside braces is printed as it is. Raises TemplateError.
    """
    # As in kubectl, a path alone needs no braces.
    parts = list(_PART.finditer(text if "{" in text else f"{{{text}}}"))
    if wrong := next((each for each in parts if each["wrong"]), None):
        raise TemplateError(f"unexpected {wrong[0]!r} at character {wrong.start() + 1}")
    return _sequence(iter(parts), inside=False)


def _sequence(parts: Iterator[re.Match[str]], *, inside: bool) -> Render:
    made: list[Render] = []
    for part in parts:
        code = (part["code"] or "").strip()
        if part["text"] is not None:
            made.append(_literal(part["text"]))
        elif code == "end":
            if not inside:
                raise TemplateError("{end} without {range …}")
            return _joined(made)
        elif code.startswith("range "):
            made.append(_each(_path(code.removeprefix("range ")), _sequence(parts, inside=True)))
        elif code[:1] in {"'", '"'}:
            made.append(_literal(_unquoted(code)))
        else:
            made.append(_found(_path(code)))
    if inside:
        raise TemplateError("{range …} without {end}")
    return _joined(made)


def _literal(text: str) -> Render:
    return lambda _: text


def _joined(made: Sequence[Render]) -> Render:
    return lambda data: "".join(each(data) for each in made)


def _each(path: JSONPath, body: Render) -> Render:
    return lambda data: "".join(body(each) for each in path.findall(data))


def _found(path: JSONPath) -> Render:
    return lambda data: " ".join(map(_text, path.findall(data)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _unquoted(code: str) -> str:
    try:
        return str(ast.literal_eval(code))
    except (ValueError, SyntaxError) as error:
        raise TemplateError(f"{code} is not a quoted text") from error


def _path(text: str) -> JSONPath:
    """Parse one of kubectl's paths. Raises TemplateError."""
    text = text.strip()
    if not text:
        raise TemplateError("a path is empty")
    rooted = text if text[0] in ".[$@" else f".{text}"
    standard = _NAME.sub(_bracketed, rooted)
    standard = f"${standard.removeprefix('$').removeprefix('@')}"
    try:
        found = jsonpath.compile("$" if standard == "$." else standard)
    except JSONPathError as error:
        raise TemplateError(f"{text} is not a path: {str(error).splitlines()[0]}") from error
    if not isinstance(found, JSONPath):
        raise TemplateError(f"{text} is not a single path")
    return found


def _bracketed(found: re.Match[str]) -> str:
    if found["kept"]:
        return found["kept"]
    name = json.dumps(re.sub(r"\\(.)", r"\1", found["name"]))
    return f"..[{name}]" if found["dots"] == ".." else f"[{name}]"


# -- columns -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `-o custom-columns=…`."""

    heading: str
    path: JSONPath

    def cell(self, body: Any) -> str:  # noqa: ANN401 - JSON
        """Return what it shows for an object."""
        return ",".join(map(_text, self.path.findall(body))) or NOTHING


def custom_columns(text: str) -> list[Column]:
    """Parse columns such as `NAME:.metadata.name,STATE:.spec.state`. Raises TemplateError."""
    return [_column(each) for each in text.split(",")]


def _column(text: str) -> Column:
    heading, colon, path = text.partition(":")
    if not (heading and colon and path):
        raise TemplateError(f"{text!r} is not HEADING:PATH")
    return Column(heading, _path(path.removeprefix("{").removesuffix("}")))
