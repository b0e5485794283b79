"""Which names this studio answers to: a page elsewhere whose name is made to point here (DNS rebinding) gets nothing.

Only the name is looked at, never the port: a forwarded port is another one than ours.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Scope

from cutaway.studio.answers.errors import Refusal
from cutaway.studio.guards.refusing import Refusing

__all__ = ["LOOPBACK_NAMES", "KnownHosts", "host_name", "is_bare_name", "is_everywhere", "is_loopback", "normal_name"]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.%]+\]|[a-z0-9_.-]+)(?::[0-9]{0,5})?", re.IGNORECASE | re.ASCII)


def normal_name(name: str) -> str:
    """Return a host name as it is compared: small letters, no brackets, no dot at its end, addresses at their shortest.

    >>> normal_name("LocalHost."), normal_name("[0:0:0:0:0:0:0:1]")
    ('localhost', '::1')
    """
    bare = name.strip().lower().removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        # One dot at the end is the same name written out; two are no name.
        return bare.removesuffix(".")


def host_name(value: str) -> str | None:
    """Return the name in a Host header, without its port; None where it is not one.

    >>> host_name("gpu-box:8600"), host_name("[::1]:8600"), host_name("a b")
    ('gpu-box', '::1', None)
    """
    found = _HOST.fullmatch(value)
    return normal_name(found["name"]) if found else None


def is_bare_name(text: str) -> bool:
    """Whether a text is a host name or an address and nothing else: no scheme, no port, no star.

    >>> is_bare_name("gpu-box"), is_bare_name("fe80::1"), is_bare_name("gpu-box:8600")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return ":" not in text and host_name(text) is not None
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what is bound there."""
    name = normal_name(host)
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_everywhere(host: str) -> bool:
    """Whether that stands for every address of this machine, and so is the name of none."""
    return host.strip("[]") in _EVERYWHERE


class KnownHosts(Refusing):
    """Refuses requests for any other host name than this machine's loopback, the bound one and those allowed."""

    def __init__(self, app: ASGIApp, host: str, allowed: Iterable[str]) -> None:
        super().__init__(app)
        bound = () if is_everywhere(host) else (host,)
        self._names = frozenset(map(normal_name, (*LOOPBACK_NAMES, *bound, *allowed)))

    def _refusal(self, scope: Scope) -> Refusal | None:
        hosts = [value.decode("latin-1") for key, value in scope["headers"] if key == b"host"]
        if len(hosts) != 1:
            return Refusal(403, "wrong-host", f"A request names one host, but this one names {len(hosts)}.")
        name = host_name(hosts[0])
        if name in self._names:
            return None
        error = f"This studio does not answer to the host name {hosts[0][:100]!r}."
        shown = name if name is not None and len(name) <= 100 else "NAME"
        return Refusal(403, "wrong-host", error, f"Start it with `cutaway studio --allow-host {shown}` if it shall.")
