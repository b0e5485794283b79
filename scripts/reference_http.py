"""Writes the reference of the studio's HTTP API, from the application's own schema. Renders text, touches no file."""

from typing import Any

from scripts.api_schema import api_schema

__all__ = ["http_page", "route_titles"]

_INTRODUCTION = """\
# The HTTP API of the studio

Made from the application by `python -m scripts.make_reference`. `cutaway studio` serves it beside the page, and the
page uses nothing else. [Ask the studio from a program](../how-to/ask-the-studio-from-a-program.md) shows it at work;
`GET /api/openapi.json` is the same as a schema for machines.

- **An answer** is `{"ok": true, "data": ...}`.
- **Many rows** come as `{"ok": true, "data": [...], "total", "offset", "limit"}`; `offset` and `limit` ask for more.
- **An error** is `{"ok": false, "error", "code", "hint", "status", "request"}`: what happened, a word for programs,
  what to do next, and the id under which the studio's log has it.
- **Bulk columns** come as one Arrow IPC stream (routes that end in `.arrow`).
- **Times** are seconds since 1970. A number that is not finite is null.
- **Who may ask.** On this machine anybody; a studio that listens elsewhere wants `Authorization: Bearer TOKEN` with
  every request. Requests with a foreign `Origin` or an unknown `Host` are refused; whatever changes something is JSON.
"""


def http_page() -> str:
    """Return the whole page."""
    schema = api_schema()
    routes = [_route(method, path, about) for method, path, about in _operations(schema)]
    shapes = [
        _shape(name, about)
        for name, about in sorted(schema["components"]["schemas"].items())
        if "_" not in name and name not in ("HTTPValidationError", "ValidationError")
    ]
    return "\n\n".join([_INTRODUCTION.strip(), "## Routes", *routes, "## Shapes", *shapes]) + "\n"


def route_titles() -> list[str]:
    """The heading of every route."""
    return [_title(method, path) for method, path, _ in _operations(api_schema())]


def _operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(method, path, about) for path, methods in schema["paths"].items() for method, about in methods.items()]


def _title(method: str, path: str) -> str:
    return f"`{method.upper()} {path}`"


def _route(method: str, path: str, about: dict[str, Any]) -> str:
    parts = [f"### {_title(method, path)}", about.get("description", "").strip()]
    rows = [_parameter(one) for one in about.get("parameters", []) if one["in"] == "query"]
    if rows:
        parts.append("\n".join(["| Parameter | Type | |", "|---|---|---|", *rows]))
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        parts.append(f"Takes {_type(body)} as JSON.")
    content: dict[str, Any] = next(
        (said.get("content", {}) for code, said in about["responses"].items() if code[0] == "2"), {}
    )
    answer = content.get("application/json", {}).get("schema")
    if answer and ("$ref" in answer or answer.get("type")):
        parts.append(f"Answers {_type(answer)}.")
    return "\n\n".join(part for part in parts if part)


def _parameter(one: dict[str, Any]) -> str:
    default = one["schema"].get("default")
    told = [one.get("description", "")]
    if one.get("required"):
        told.append("Required.")
    elif default not in (None, "", []):
        told.append(f"Default `{default}`.")
    return f"| `{one['name']}` | {_type(one['schema'])} | {' '.join(told).strip()} |"


def _shape(name: str, about: dict[str, Any]) -> str:
    rows = [
        f"| `{field}` | {_type(said)} | {said.get('description', '')} |"
        for field, said in about.get("properties", {}).items()
    ]
    table = "\n".join(["| Field | Type | |", "|---|---|---|", *rows])
    return f"### {name}\n\n{about.get('description', '').strip()}\n\n{table}"


def _type(schema: dict[str, Any]) -> str:  # noqa: PLR0911 - one line for each kind of schema
    if "$ref" in schema:
        return _named(schema["$ref"].rsplit("/", 1)[1])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"names to {_type(schema['additionalProperties'])}"
    return {"integer": "int", "number": "float", "string": "text", "boolean": "bool", "object": "object"}.get(
        schema.get("type", ""), "null" if schema.get("type") == "null" else "any"
    )


def _named(name: str) -> str:
    """The name of a shape with its link; a generic one names what it holds."""
    outer, inside, held = name.partition("_")
    if not inside:
        return f"[{name}](#{name.lower()})"
    if held.startswith("dict_str__str"):
        return "names to text"
    many = held.startswith("list_")
    inner = held.removeprefix("list_").strip("_")
    shape = f"[{inner}](#{inner.lower()})"
    return f"a page of {shape}" if outer == "Page" else f"{'a list of ' if many else ''}{shape}"
