"""The schema of the studio's HTTP API, as the application itself has it."""

import tempfile
from pathlib import Path
from typing import Any

from cutaway.studio.serving.app import create_app
from cutaway.studio.the_studio import Studio

__all__ = ["api_schema"]


def api_schema() -> dict[str, Any]:
    """Return the OpenAPI document of the application as it is now."""
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio.open(Path(folder))
        try:
            return create_app(studio).openapi()
        finally:
            studio.close()
