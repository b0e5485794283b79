"""Writes ui/src/api/schema.ts, the page's types of the HTTP API, from the application itself.

`make ui-types` runs it after a change of studio/wire/ or of a route; a test says when that was forgotten. Needs what
`make setup` installs, ui/node_modules among it.
"""

import json
import sys
import tempfile
from pathlib import Path

from scripts.api_schema import api_schema
from scripts.node import run_node
from scripts.requirements import ROOT

__all__ = ["TYPES", "api_types"]

TYPES = ROOT / "ui" / "src" / "api" / "schema.ts"
GENERATOR = ROOT / "ui" / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
HEADER = "// Written by `make ui-types` from the types in src/cutaway/studio/wire/ and the routes. Do not edit.\n\n"


def api_types() -> str:
    """Return the file as the application is now."""
    with tempfile.TemporaryDirectory() as folder:
        schema, types = Path(folder, "openapi.json"), Path(folder, "schema.ts")
        schema.write_text(json.dumps(api_schema()))
        options = ["--root-types", "--root-types-no-schema-prefix", "--output", str(types)]
        done = run_node(GENERATOR, [str(schema), *options], folder=ROOT / "ui")
        if done.returncode:
            sys.exit(f"{done.stdout.strip()}\nopenapi-typescript failed. `make setup` installs it if it is missing.")
        return HEADER + types.read_text()


def main(arguments: list[str]) -> int:
    """Write the file, or with `--check` only say whether it is as it would be written."""
    types = api_types()
    if arguments == ["--check"]:
        if TYPES.read_text() == types:
            return 0
        print(f"{TYPES.relative_to(ROOT)} is not what the HTTP API says. Run: make ui-types", file=sys.stderr)
        return 1
    TYPES.parent.mkdir(parents=True, exist_ok=True)
    TYPES.write_text(types)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
