"""What a forked studio does: it serves runs until it is killed, and reports the port."""

from __future__ import annotations

import time
from pathlib import Path

from tests.faults.jobs import Report

__all__ = ["serve", "warm_up"]


def warm_up() -> None:
    """Import what is slow to import. Nothing is computed: threads do not survive a fork."""
    import pyarrow.parquet
    import uvicorn

    import cutaway.analysis.samples.origin
    import cutaway.studio.serving.server

    assert all((pyarrow.parquet, uvicorn, cutaway.analysis.samples.origin, cutaway.studio.serving.server))


def serve(report: Report, root: str) -> None:
    from cutaway.studio.serving.server import serve_in_thread
    from cutaway.studio.the_studio import Studio

    with serve_in_thread(Studio.open(Path(root))) as served:
        report(served.port)
        time.sleep(600)
