"""Which worker of a distributed torch training this process is, and how all of them come to one answer."""

from __future__ import annotations

import os

import torch

from cutaway.capture.adapter import Worker

__all__ = ["chiefs_answer", "this_worker"]


def this_worker() -> Worker:
    """Return this process's rank and the name of its launch; a training of one process is rank 0."""
    rank, count = (int(os.environ.get(name) or default) for name, default in (("RANK", 0), ("WORLD_SIZE", 1)))
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        rank, count = torch.distributed.get_rank(), torch.distributed.get_world_size()
    return Worker(rank, _launch(), count, chiefs_answer)


def chiefs_answer(asked: bool) -> bool:  # noqa: FBT001 - it is all that there is
    """Return rank 0's answer on every rank: all must call this at the same place. Alone, one's own answer.

    Raises what torch raises where a process of the group is gone: ranks that go on with different answers would hang.
    """
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return asked
    if torch.distributed.get_world_size() == 1:
        return asked
    answers = [asked]
    torch.distributed.broadcast_object_list(answers, src=0)
    return answers[0]


def _launch() -> str:
    """What all processes of one launch share, and no later launch does."""
    environment = os.environ
    address = f"{environment.get('MASTER_ADDR', '')}:{environment.get('MASTER_PORT', '')}"
    elastic = f"{environment.get('TORCHELASTIC_RUN_ID', '')}:{environment.get('TORCHELASTIC_RESTART_COUNT', '')}"
    # Ranks of one machine have one parent; across machines only torchrun's id is shared, and it is unique by itself.
    parent = "" if environment.get("TORCHELASTIC_RUN_ID", "none") not in ("", "none") else str(os.getppid())
    return environment.get("CUTAWAY_LAUNCH_ID") or f"{address} {elastic} {parent}"
