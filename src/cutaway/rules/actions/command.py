"""Messages to a program on this machine: the finding as JSON on its standard input."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutaway.engine.supervised import kill_group
from cutaway.errors import ConfigurationError
from cutaway.rules.actions.channel import SENT, DeliveryOutcome, Message

__all__ = ["Command"]

# It is not there (or what its first line names), may not be run, or is no program.
_NEVER = (errno.ENOENT, errno.EACCES, errno.ENOEXEC)


@dataclass(frozen=True)
class Command:
    """Runs a program, without a shell, for every finding; an exit code other than 0 is a failure and tried again.

    It gets the message as JSON on standard input, `CUTAWAY_FINDING_ID` and `CUTAWAY_RUN` (the run folder) in its
    environment, and `timeout` seconds. What it prints is thrown away.
    """

    argv: Sequence[str] = field(repr=False)  # arguments may hold tokens
    timeout: float = 30.0

    def __post_init__(self) -> None:
        argv = tuple(str(word) for word in self.argv)
        if isinstance(self.argv, str) or not argv or not argv[0] or any("\0" in word for word in argv):
            raise ConfigurationError('A command is a list of words, as in Command(["./page.sh", "--urgent"]).')
        timeout = self.timeout
        if not timeout > 0:
            raise ConfigurationError(f"`timeout > 0` must hold for a command, but got timeout={timeout}.")
        if "/" in argv[0]:
            # The next watcher may run in another folder.
            argv = (str(Path(argv[0]).expanduser().absolute()), *argv[1:])
        object.__setattr__(self, "argv", argv)

    @property
    def label(self) -> str:
        """The program without its arguments."""
        return f"command {Path(self.argv[0]).name}"

    @property
    def caution(self) -> str:
        """Nothing to say."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the words of the command."""
        return {"by": "command", "argv": list(self.argv), "timeout": self.timeout}

    def send(self, message: Message) -> DeliveryOutcome:
        """Run it once."""
        if shutil.which(self.argv[0]) is None:
            return DeliveryOutcome("refused", f"there is no program {self.argv[0]!r} that can be run")
        environment = {
            **os.environ,
            "CUTAWAY_FINDING_ID": str(message.finding["id"]),
            "CUTAWAY_RUN": message.path,
        }
        try:
            process = subprocess.Popen(
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # a Ctrl-C at the watcher is not meant for it
            )
        except OSError as error:
            never = error.errno in _NEVER
            return DeliveryOutcome(
                "refused" if never else "failed", f"{self.label} could not be started: {error.strerror}"
            )
        try:
            process.communicate(message.to_json(), timeout=self.timeout)
        except subprocess.TimeoutExpired:
            kill_group(process)
            return DeliveryOutcome("failed", f"{self.label} did not end within {self.timeout:g} s and was killed")
        if process.returncode:
            return DeliveryOutcome("failed", f"{self.label} ended with {process.returncode}")
        return SENT
