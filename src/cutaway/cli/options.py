"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["AsJson", "RunText"]

RunText = Annotated[str, typer.Argument(metavar="RUN", help="A folder, a name, or the unique beginning of one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
