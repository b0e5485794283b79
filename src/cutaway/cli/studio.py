"""`cutaway studio`: the web page over runs."""

from __future__ import annotations

import os
import re
import socket
import stat
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutaway.cli.options import shown_path, user_name
from cutaway.cli.studio_export import export_run, print_to_stderr
from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from types import ModuleType

    from cutaway.studio.guards.tokens import Gate
    from cutaway.studio.serving.app import Guards

__all__ = ["studio"]

DEFAULT_PORT = 8600
TOKEN_VARIABLE = "CUTAWAY_TOKEN"
_SERVER = ("fastapi", "starlette", "uvicorn", "h11", "pydantic")
_TOKEN_FILE = "studio.token"
_MAKE_TOKEN = f"(umask 077; python -c 'import secrets; print(secrets.token_urlsafe())' > {_TOKEN_FILE})"
_FIRST_RUNS = (
    ("cutaway demo", "trains a small network and looks at it"),
    ("cutaway evaluate ENTRY.py MODEL", "looks at a model on every sample of a data set"),
    ("cutaway.attach(model, optimizer)", "one line of Python, in a training of your own"),
)


def studio(
    path: Annotated[
        Path | None, typer.Argument(metavar="[PATH]", help="A folder of runs, or one run. Left out: the folder runs/.")
    ] = None,
    *,
    port: Annotated[int, typer.Option(help="Where to listen; the next free one where it is taken. 0 is any.")] = (
        DEFAULT_PORT
    ),
    host: Annotated[str, typer.Option(help="The address to listen on. Beyond this machine it needs a token.")] = (
        "127.0.0.1"
    ),
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another host name to answer to; give it again for more.")
    ] = None,
    root_path: Annotated[
        str, typer.Option(metavar="/PATH", help="The path below which a proxy shows this page, such as /studio.")
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(metavar="F", help=f"A file with the token to ask for; or set {TOKEN_VARIABLE}.")
    ] = None,
    read_only: Annotated[
        bool,
        typer.Option("--read-only", help="Change nothing, run no binding, open no model: for runs of somebody else."),
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    page: Annotated[
        str, typer.Option(metavar="PATH", help="Where the browser begins, as its address shows it after the host.")
    ] = "",
    export: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write one run as files that open without a studio, and end.")
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(metavar="F", help="For --export: a file of sample ids whose heat maps and similars are taken."),
    ] = None,
) -> None:
    """Open the web page over your runs: curves, tensors, findings, and requests to what is training.

    The page reads run folders, also of trainings that are running; it needs nothing else and fetches nothing from
    elsewhere. Only this machine reaches it, unless you say otherwise and give it a token.

    \b
    cutaway studio                                       all runs in runs/
    cutaway studio runs/mnist-20261115                   one run
    cutaway studio downloads --read-only                 runs of somebody else: look only
    cutaway studio --no-open --port 8601                 print the address only
    cutaway studio --host 0.0.0.0 --allow-host gpu-box --token-file studio.token
                                                         for other machines, as http://gpu-box:8600
    cutaway studio --root-path /studio                   behind a proxy, below /studio
    cutaway studio mnist-20261115 --export copy          one run as files: open copy/index.html

    On a machine that you reach by ssh it prints the line that forwards its port to you. Ctrl-C ends it.
    """
    if export is not None:
        _the_server()
        export_run(path, export, samples)
        return
    if samples is not None:
        message = "`--samples` is for a frozen copy."
        raise ConfigurationError(message, hint="Say where it goes: cutaway studio RUN --export FOLDER --samples F")
    folder, root = _folder(path), _root_path(root_path)
    if not 0 <= port <= 65_535:
        message = f"`0 <= --port <= 65535` must hold, but got --port {port}."
        raise ConfigurationError(message, hint="`cutaway studio --help` says more.")
    server = _the_server()
    from cutaway.studio.serving.app import Guards, create_app
    from cutaway.studio.serving.page import Bundle
    from cutaway.studio.the_studio import Studio

    gate = _gate(host, token_file)
    guards = Guards(host=host, allowed_hosts=_host_names(allow_host or []), root_path=root)
    bundle = Bundle.load()
    with server.bind(host, port) as listening:
        taken = listening.getsockname()[1]
        if port not in (0, taken):
            print_to_stderr(f"Port {port} is taken; using {taken}.")
        if not bundle.is_built:
            print_to_stderr(f"The page is not built, only the HTTP API is there. {bundle.why_not_built}")
        opened = Studio.open(folder, gate=gate, read_only=read_only)
        _say_what_makes_runs(folder)
        _show(host, taken, guards, page.lstrip("/"), opens=not no_open and bundle.is_built)
        server.serve(create_app(opened, guards=guards, bundle=bundle), opened, listening)


def _the_server() -> ModuleType:
    try:
        from cutaway.studio.serving import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _SERVER:
            raise
        message = f"The studio needs {error.name}, which is not installed here."
        raise ConfigurationError(message, hint="Run: pip install cutaway") from error
    return server


def _folder(path: Path | None) -> Path:
    from cutaway.run import runs_folder

    if path is None:
        default = runs_folder()
        default.mkdir(parents=True, exist_ok=True)  # a first run will go there, and shall appear
        return default
    given = path.expanduser()
    if given.is_dir():
        return given
    hint = "Give the folder that holds your runs, or leave it out for `runs/`; `cutaway runs list` shows what is there."
    message = f"No folder {str(path)!r}. {hint}"
    raise ConfigurationError(message, path=path)


def _root_path(text: str) -> str:
    root = f"/{text.strip('/')}" if text.strip("/") else ""
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", root):
        message = f"`--root-path` is a path such as /studio, but got {text!r}."
        raise ConfigurationError(message, hint="`cutaway studio --help` shows one.")
    return root


def _host_names(given: list[str]) -> tuple[str, ...]:
    from cutaway.studio.guards.hosts import is_bare_name

    for name in given:
        # One with a port would match no request, and nobody would know why.
        if not is_bare_name(name):
            message = f"`--allow-host` takes a host name such as gpu-box, without http:// and port, but got {name!r}."
            raise ConfigurationError(message, hint="`cutaway studio --help` shows one.")
    return tuple(given)


def _gate(host: str, file: Path | None) -> Gate | None:
    """Return the gate for the token of the file or the environment; none on loopback where neither is given."""
    from cutaway.studio.guards.hosts import is_loopback
    from cutaway.studio.guards.tokens import Gate

    token = _token_of(file) if file is not None else os.environ.get(TOKEN_VARIABLE, "").strip()
    if token or file is not None:
        return Gate(token)
    if is_loopback(host):
        return None
    message = f"`--host {host}` is reached from other machines, so it needs a token."
    raise ConfigurationError(
        message, hint=f"Run: {_MAKE_TOKEN} && cutaway studio --host {host} --token-file {_TOKEN_FILE}"
    )


def _token_of(file: Path) -> str:
    try:
        with file.expanduser().open(encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            token = opened.read(10_000).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        message = f"`--token-file {file}` cannot be read: {reason}."
        raise ConfigurationError(message, hint=f"Make one with: {_MAKE_TOKEN}", path=file) from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        print_to_stderr(f"Warning: others on this machine can read the token. Run: chmod 600 {file}")
    return token


def _say_what_makes_runs(folder: Path) -> None:
    from cutaway.studio.index.places import Places

    # By names alone: opening thousands would keep whoever typed the command waiting.
    if not Places(folder).is_empty():
        return
    print_to_stderr(f"No runs in {shown_path(folder)} yet. Any of these makes one, and the page shows it at once:")
    width = max(len(command) for command, _ in _FIRST_RUNS)
    for command, what in _FIRST_RUNS:
        print_to_stderr(f"  {command:<{width}}   {what}")


def _show(host: str, port: int, guards: Guards, page: str, *, opens: bool) -> None:
    """Say where the page is, and open it where whoever typed the command would see it."""
    from cutaway.studio.guards.hosts import is_everywhere

    everywhere = is_everywhere(host)
    here = "127.0.0.1" if everywhere else f"[{host}]" if ":" in host else host
    # A name that it answers to: the one it was given for others, before that of this machine alone.
    name = guards.allowed_hosts[0] if everywhere and guards.allowed_hosts else here
    address = f"http://{name}:{port}{guards.root_path}/{page}"
    print_to_stderr(f"The studio is at {address}   (Ctrl-C ends it)")
    if everywhere and not guards.allowed_hosts:
        print_to_stderr(f"For other machines add the name that they use: --allow-host {socket.gethostname()}")
    if not _has_display():
        you = f"{user_name('you')}@{socket.gethostname()}"
        print_to_stderr(f"From your own machine: ssh -N -L {port}:{here}:{port} {you}")
        print_to_stderr(f"then open http://localhost:{port}{guards.root_path}/{page} there.")
    elif opens and _is_terminal():
        import webbrowser

        # The socket listens already, so the browser's first request waits there until the server takes it.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _has_display() -> bool:
    """Whether a browser that is opened here would be seen by whoever typed the command."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _is_terminal() -> bool:
    return sys.stderr.isatty()
