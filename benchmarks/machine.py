"""What the figures were measured on, and how much of it others used meanwhile."""

from __future__ import annotations

import os
import platform
import resource
import time
from dataclasses import dataclass
from pathlib import Path

CHUNK = 8 * 1024 * 1024


@dataclass(frozen=True)
class Load:
    """A reading of the machine's busy time and of ours."""

    at: float
    busy: float
    ours: float

    def others_until(self, later: Load) -> float:
        """Cores that other processes kept busy between two readings."""
        return max(0.0, (later.busy - self.busy) - (later.ours - self.ours)) / max(later.at - self.at, 1e-9)


def read_load() -> Load:
    """Busy seconds of all cores, and of this process and the workers that it has waited for."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _wait, irq, soft = (int(field) for field in fields[:7])
    busy = (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
    ours = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        ours += usage.ru_utime + usage.ru_stime
    return Load(time.monotonic(), busy, ours)


def describe() -> dict[str, str]:
    """Processor, cores, memory, system and Python."""
    information = Path("/proc/cpuinfo").read_text()
    models = [line.partition(":")[2].strip() for line in information.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def touch_pages(folder: Path, size: int) -> None:
    """Write and delete a file, so that the pages that the next writes get are ones that this machine already has.

    A virtual machine with free-page reporting hands memory back to its host seconds after it was freed, and its next
    use is ten times slower. That is the price of a machine, not of a format, and without this it would fall on
    whoever happens to write after a quiet moment.
    """
    path = folder / "touched"
    chunk = memoryview(bytes(min(size, CHUNK)))
    with path.open("wb", buffering=0) as file:
        while size > 0:
            size -= file.write(chunk[:size])
    path.unlink()
