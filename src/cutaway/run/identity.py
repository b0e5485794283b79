"""A run folder as one object: who it is, its attempts and state, and the doors to its tables and documents."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import subprocess
import sys
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cutaway.errors import (
    ConfigurationError,
    RunDamaged,
    RunExists,
    RunFormatError,
    RunLocked,
    RunNotFound,
    StorageError,
)
from cutaway.run.documents import read_config, read_document, write_document, write_yaml
from cutaway.run.file_stamp import FileStamp
from cutaway.run.findings import Finding, findings_from_table
from cutaway.run.layout import CONFIG_FILE, CONTROL, LEASES, OVERLAY_FILE, RUN_FILE, SAMPLES, SOURCE_FILE, TRACE, WATCH
from cutaway.run.leases import CHIEF, Lease, RunState, next_lease, refuse_live_writer, training_states
from cutaway.run.schemas import FINDINGS, SCHEMAS, STEPS
from cutaway.run.segments import SegmentName, TableWriter, WriterId
from cutaway.run.storage import LocalStorage, UnmappedStorage
from cutaway.run.tables import Attempt, Damage, TableReader

__all__ = ["FORMAT", "Run", "runs_folder"]

FORMAT = 0


def runs_folder() -> Path:
    """Where runs without an `out_dir` go: `runs` under `CUTAWAY_HOME`, or under the current folder."""
    return Path(os.environ.get("CUTAWAY_HOME", ".")).expanduser() / "runs"


class Run:
    """A run folder. Opening one reads a single small file; nothing is locked."""

    def __init__(
        self,
        path: Path,
        identity: dict[str, Any],
        damage: list[Damage] | None = None,
        storage: UnmappedStorage | None = None,
    ) -> None:
        self.path = path
        self.storage = storage or LocalStorage(path)
        self.identity = identity
        self.damage = damage or []
        self._identity_seen: FileStamp | None = None
        self._attempts: list[Attempt] | None = None

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @classmethod
    def create(
        cls,
        path: Path | str | None = None,
        *,
        name: str = "",
        versions: Mapping[str, str] | None = None,
        **identity: Any,
    ) -> Run:
        """Make a new run, exactly at `path` or at `runs/<name>-<UTC time>`. Raises `RunExists` where there is one."""
        return cls._make(path, name, versions, identity, starting=False)[0]

    @classmethod
    def start(
        cls,
        path: Path | str | None = None,
        *,
        name: str = "",
        versions: Mapping[str, str] | None = None,
        **identity: Any,
    ) -> tuple[Run, Lease]:
        """Make a new run as `create` does, for a training that starts, with the lease of its chief.

        The lease is claimed before `run.json` is written: whoever finds the run finds that it starts.
        """
        run, lease = cls._make(path, name, versions, identity, starting=True)
        assert lease is not None
        return run, lease

    @classmethod
    def _make(
        cls,
        path: Path | str | None,
        name: str,
        versions: Mapping[str, str] | None,
        identity: Mapping[str, Any],
        *,
        starting: bool,
    ) -> tuple[Run, Lease | None]:
        about = {
            "project": Path.cwd().name,
            "versions": {"python": platform.python_version(), **(versions or {})},
            "git": _git_commit(),
            "attempts": [],
            **identity,
        }
        if path is not None:
            return cls._create(Path(path).expanduser(), about, starting=starting)
        while True:
            # Two that start within a second look for a free name at the same time: the slower one looks again.
            with contextlib.suppress(RunExists):
                return cls._create(_free_folder(name or _default_name()), about, starting=starting)

    @classmethod
    def _create(cls, folder: Path, about: dict[str, Any], *, starting: bool) -> tuple[Run, Lease | None]:
        created = datetime.now(UTC).isoformat(timespec="seconds")
        identity = {"format": FORMAT, "id": uuid.uuid4().hex, "name": folder.name, "created": created, **about}
        # A lease is renewed wherever the training goes: its place stays right when that changes its folder.
        run = cls(folder, identity, storage=LocalStorage(folder.absolute()))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lease = _claim_new(run) if starting else None
            try:
                # Exclusive, so that of two processes that start at once only one owns the folder.
                write_document(run.storage, RUN_FILE, run.identity, exclusive=True)
            except OSError:
                if lease is not None:
                    lease.withdraw()
                raise
        except (FileExistsError, RunLocked):
            if not folder.is_dir():
                message = f"`out_dir` must be a folder, but {str(folder)!r} is a file."
                raise ConfigurationError(message, hint="Give another `out_dir`.", path=folder) from None
            raise RunExists(str(folder)) from None
        except OSError as error:
            reason = str(error) if isinstance(error, StorageError) else f"{error.strerror or error}."
            hint = "Give an `out_dir` that can be written, or set CUTAWAY_HOME."
            message = f"Cannot make the run folder {str(folder)!r}: {reason} {hint}"
            raise ConfigurationError(message, path=folder) from error
        return run, lease

    @classmethod
    def open(cls, path: Path | str, *, mapped: bool = True) -> Run:
        """Open a run folder for reading. Raises `RunNotFound` where there is none.

        Complete files are mapped, which saves copying them; without `mapped` they are read, whoever changes them.
        """
        folder = Path(path).expanduser()
        storage = LocalStorage(folder) if mapped else UnmappedStorage(folder)
        try:
            identity = read_document(storage, RUN_FILE)
        except (FileNotFoundError, NotADirectoryError):
            raise RunNotFound(str(path), str(folder.parent)) from None
        except RunDamaged as error:
            # A damaged identity costs the name and date of a run, never its data.
            return cls(folder, {"name": folder.name}, [Damage(RUN_FILE, 0, None, error.reason)], storage)
        version = identity.get("format", FORMAT)
        if not isinstance(version, int):
            damage = Damage(RUN_FILE, 0, None, "its format is no number")
            return cls(folder, {**identity, "format": FORMAT}, [damage], storage)
        if version > FORMAT:
            message = f"Run {folder.name!r} has format {version}; this release reads up to {FORMAT}."
            raise RunFormatError(message)
        return cls(folder, identity, storage=storage)

    @property
    def id(self) -> str:
        """The run's own id, the same wherever it is copied to."""
        return str(self.identity.get("id", self.path.name))

    @property
    def name(self) -> str:
        """What people call it: its folder's name."""
        return self.path.name

    def save_identity(self) -> None:
        """Write `run.json`; only the chief of a training does.

        Attempts that another process has listed meanwhile stay: a training that was taken for lost may come back.
        """
        with contextlib.suppress(FileNotFoundError, RunDamaged):
            there = read_document(self.storage, RUN_FILE)
            listed = [*there.get("attempts", []), *self.identity.get("attempts", [])]
            self.identity["attempts"] = list({one["attempt"]: one for one in listed}.values())
        write_document(self.storage, RUN_FILE, self.identity)

    def attempts(self) -> list[Attempt]:
        """Return the attempts so far, read again when `run.json` has changed."""
        try:
            seen = FileStamp.of(self.path / RUN_FILE)
            if seen != self._identity_seen or self._attempts is None:
                self.identity = read_document(self.storage, RUN_FILE)
                self._identity_seen = seen
                self._attempts = self._listed_attempts()
        except (FileNotFoundError, RunDamaged):
            self._attempts = self._attempts_from_files()
        return self._attempts

    def _listed_attempts(self) -> list[Attempt]:
        """Return the attempts that `run.json` lists; where something else is written there, it counts as damaged."""
        listed = self.identity.get("attempts")
        if isinstance(listed, list) and all(map(_is_attempt, listed)):
            return [Attempt(one["attempt"], one["from_step"]) for one in listed]
        self.identity = {**self.identity, "attempts": []}
        damage = Damage(RUN_FILE, 0, None, "its attempts are no list of attempts and their first steps")
        if damage not in self.damage:
            self.damage.append(damage)
        return self._attempts_from_files()

    def attempt_of(self, step: int) -> int:
        """Return the attempt that shows a step: the newest that began at or before it."""
        return max((attempt.number for attempt in self.attempts() if attempt.from_step <= step), default=0)

    def begin_attempt(self, *, worker: str = CHIEF, from_step: int | None = None, **about: Any) -> tuple[int, Lease]:
        """Open the next attempt as the chief of a training that is ready at once: claims the lease and lists it.

        `from_step` is the first step that this attempt writes; by default the one after the last that is there.
        """
        lease = self.claim_attempt(worker)
        try:
            self.list_attempt(lease.writer.attempt, self.next_step() if from_step is None else from_step, **about)
            lease.show_running()
        except StorageError:
            with contextlib.suppress(StorageError):
                lease.release(RunState.FAILED)
            raise
        return lease.writer.attempt, lease

    def claim_attempt(self, worker: str = CHIEF) -> Lease:
        """Claim the next attempt for the chief of a training that starts: before anything that takes long."""
        # A process that was killed between its lease and its line in `run.json` has used its number up all the same.
        least = max((attempt.number for attempt in self.attempts()), default=-1) + 1
        return next_lease(self.storage, str(self.path), "train", worker, least=least, starting=True)

    def list_attempt(self, number: int, from_step: int, **about: Any) -> None:
        """List an attempt that was claimed in `run.json`, with the first step that it writes."""
        # From the attempts as they are shown, which `run.json` may have lost.
        listed = {a.number: {"attempt": a.number, "from_step": a.from_step} for a in self.attempts()}
        listed |= {a["attempt"]: a for a in self.identity.get("attempts", [])}
        listed[number] = {"attempt": number, "from_step": from_step, **about}
        self.identity = {"format": FORMAT, **self.identity, "attempts": list(listed.values())}
        self.save_identity()

    def join_attempt(self, worker: str, number: int) -> Lease:
        """Claim the lease of another worker of an attempt that the chief has opened."""
        refuse_live_writer(self.storage, str(self.path), "train", worker)
        return Lease(self.storage, str(self.path), WriterId("train", worker, number))

    def next_step(self) -> int:
        """Return the step after the last one written."""
        steps = self.table(STEPS).read(columns=["step"])["step"]
        return 0 if len(steps) == 0 else max(steps.to_pylist()) + 1

    def state(self) -> RunState:
        """Say what became of the training of this run, or where there was none, of its evaluation."""
        trained = training_states([self.storage])[0]
        if trained is not None:
            return trained
        evaluated = training_states([self.storage], role="evaluate")[0]
        return evaluated or RunState(self.identity.get("state", RunState.ENDED))

    def table(self, table: str) -> TableReader:
        """Return a new reader of one of the growing tables."""
        return TableReader(self.storage, table, self.attempts)

    def writer(self, table: str, who: WriterId) -> TableWriter:
        """Return a writer of one of the growing tables."""
        return TableWriter(self.storage, table, who)

    def findings(self) -> list[Finding]:
        """Return what rules, checks and the capture itself concluded so far."""
        return findings_from_table(self.table(FINDINGS).read())

    def document(self, key: str) -> dict[str, Any] | None:
        """Return a JSON document of the run, or None where it has not been written."""
        try:
            return read_document(self.storage, key)
        except FileNotFoundError:
            return None

    def write_document(self, key: str, content: Mapping[str, Any]) -> None:
        """Write a JSON document whole."""
        write_document(self.storage, key, dict(content))

    def config(self) -> dict[str, Any]:
        """Return what `config.yaml` says, or nothing where there is none."""
        try:
            return read_config(self.storage)
        except FileNotFoundError:
            return {}
        except ValueError as error:
            message = f"{self.path / CONFIG_FILE} is not a YAML dictionary: {error}."
            raise RunFormatError(message, hint="Mend or delete it.") from error

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Write `config.yaml` whole."""
        self.storage.replace(CONFIG_FILE, write_yaml(config))

    def verify(self) -> list[Damage]:
        """Check every byte that has a checksum, and return what is damaged."""
        ended = self.state().has_ended
        found = []
        for key in self._sealed_documents():
            try:
                self.document(key)
            except RunDamaged as error:
                found.append(Damage(key, 0, None, error.reason))
        for table in SCHEMAS:
            found += self.table(table).verify(ended=ended)
        return found

    def _sealed_documents(self) -> list[str]:
        """The documents that carry a checksum."""
        inside = [
            f"{folder}/{name}" for folder in (TRACE, LEASES, CONTROL, WATCH) for name in self.storage.list(folder)
        ]
        inside += [
            path.relative_to(self.path).as_posix() for path in sorted(self.path.glob(f"{SAMPLES}/*/{SOURCE_FILE}"))
        ]
        return [RUN_FILE, OVERLAY_FILE, *(key for key in inside if key.endswith((".json", ".done")))]

    def _attempts_from_files(self) -> list[Attempt]:
        """Rebuild the attempts where `run.json` cannot be read: each took over from its first step."""
        steps = TableReader(self.storage, STEPS, list).read(columns=["step", "attempt"])
        grouped = steps.group_by("attempt").aggregate([("step", "min")]).to_pydict()
        first = dict(zip(grouped["attempt"], grouped["step_min"], strict=True))
        # An attempt that began and wrote no step took none over.
        after = max(steps["step"].to_pylist(), default=-1) + 1
        for name in self.storage.list(STEPS):
            parsed = SegmentName.parse(name)
            if parsed is not None:
                first.setdefault(parsed.attempt, after)
        return [Attempt(number, step) for number, step in sorted(first.items())]


def _claim_new(run: Run) -> Lease:
    """Claim the lease of a run that is about to be made, unless there is one already."""
    if (run.path / RUN_FILE).exists():
        raise FileExistsError(run.path)
    return next_lease(run.storage, str(run.path), "train", starting=True)


def _is_attempt(one: Any) -> bool:
    numbers = [one.get("attempt"), one.get("from_step")] if isinstance(one, dict) else [None]
    return all(isinstance(number, int) and 0 <= number < 2**53 for number in numbers)


def _free_folder(name: str) -> Path:
    """Return `runs/<name>-<UTC time>`, with a number where two start within a second."""
    stem = f"{re.sub(r'[^A-Za-z0-9_.]+', '_', name)}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    folder, number = runs_folder() / stem, 2
    while folder.exists():
        folder, number = runs_folder() / f"{stem}-{number}", number + 1
    return folder


def _default_name() -> str:
    """Name a run after the script that makes it."""
    script = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] else ""
    return script if script not in ("", "-c", "__main__", "ipykernel_launcher") else "run"


def _git_commit() -> str | None:
    """Return the commit of the current folder, or None outside a repository or without git."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=2, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
