"""`cutaway watch --follow` beside a training that takes long to start: real processes, as on a busy machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

TRAINING = """
import sys, time
from cutaway.capture import opening
from tests.unit.capture.conftest import ArrayHook

look = opening._next_step

def slowly(run):
    # This is where pandas was imported, in a folder that nobody had claimed.
    time.sleep(5)
    return look(run)

opening._next_step = slowly
with ArrayHook(sys.argv[1]) as hook:
    for step in range(30):
        hook.take(Net_weight=[1.0, 2.0])
"""


def test_a_run_that_starts_slowly_is_followed_to_its_end(tmp_path: Path) -> None:
    environment = {**os.environ, "CUTAWAY_HOME": str(tmp_path)}
    watch = [sys.executable, "-m", "cutaway", "watch", str(tmp_path / "run"), "--follow", "--json"]
    watching = subprocess.Popen(watch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    subprocess.run([sys.executable, "-c", TRAINING, str(tmp_path / "run")], env=environment, check=True, timeout=120)
    out, err = watching.communicate(timeout=120)
    told = json.loads(out[out.index("{\n") :])
    assert (told["state"], told["step"]) == ("finished", 29), err
