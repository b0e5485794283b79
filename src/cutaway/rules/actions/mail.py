"""Messages by e-mail, handed to an SMTP server."""

from __future__ import annotations

import contextlib
import os
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any

from cutaway.errors import ConfigurationError
from cutaway.rules.actions.channel import SENT, DeliveryOutcome, Message

__all__ = ["PASSWORD_ENV", "Email"]

PASSWORD_ENV = "CUTAWAY_SMTP_PASSWORD"  # the name of the variable, not a password
# Servers expect TLS from the first byte there, without STARTTLS.
_TLS_PORT = 465
_NO = ("0", "false", "no", "off")


@dataclass(frozen=True)
class Email:
    """Sends findings to one address through an SMTP server.

    The password of `user` is read from the variable `password_env` whenever a message is sent. The connection is
    encrypted: by STARTTLS, or from the first byte on port 465; `starttls=False` is for a server on this machine.
    """

    to: str
    sender: str
    host: str
    port: int = 587
    starttls: bool = True
    user: str = ""
    password_env: str = PASSWORD_ENV
    timeout: float = 10.0

    def __post_init__(self) -> None:
        for name in ("to", "sender"):
            address = getattr(self, name)
            if not _is_address(address):
                raise ConfigurationError(
                    f"`{name}` must be an e-mail address such as ada@example.org, but got {address!r}."
                )
        host, port, timeout = self.host, self.port, self.timeout
        if not host or not 0 < port < 65536 or not timeout > 0:
            message = "`host`, `0 < port < 65536` and `timeout > 0` must hold for an SMTP server, but got"
            raise ConfigurationError(f"{message} host={host!r}, port={port}, timeout={timeout}.")

    @classmethod
    def from_environment(cls, to: str, environment: Mapping[str, str] = os.environ) -> Email:
        """Return a channel to an address by the server that the `CUTAWAY_SMTP_...` variables name."""
        needed = ("CUTAWAY_SMTP_HOST", "CUTAWAY_SMTP_FROM")
        missing = [name for name in needed if not environment.get(name)]
        if missing:
            message = f"E-mail to {to!r} needs an SMTP server: set {' and '.join(missing)}."
            raise ConfigurationError(f"{message} Run: export {missing[0]}=...")
        port = environment.get("CUTAWAY_SMTP_PORT") or "587"
        if not port.isdigit():
            raise ConfigurationError(f"CUTAWAY_SMTP_PORT must be a number, but got {port!r}.")
        return cls(
            to,
            environment["CUTAWAY_SMTP_FROM"],
            environment["CUTAWAY_SMTP_HOST"],
            int(port),
            starttls=environment.get("CUTAWAY_SMTP_STARTTLS", "").lower() not in _NO,
            user=environment.get("CUTAWAY_SMTP_USER", ""),
        )

    @property
    def label(self) -> str:
        """The address and the server."""
        return f"{self.to} by {self.host}"

    @property
    def caution(self) -> str:
        """Say that the password is missing."""
        missing = self.user and not os.environ.get(self.password_env)
        return (
            f"The password of {self.user!r} at {self.host} is missing: {self.password_env} is not set"
            if missing
            else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is needed to send again, but no password."""
        return {
            "by": "email",
            "to": self.to,
            "from": self.sender,
            "host": self.host,
            "port": self.port,
            "starttls": self.starttls,
            "user": self.user,
            "password_env": self.password_env,
            "timeout": self.timeout,
        }

    def send(self, message: Message) -> DeliveryOutcome:
        """Hand it to the server once."""
        try:
            self._hand_over(self._mail(message))
        except OSError as error:  # SMTPException is one
            return self._outcome(error)
        return SENT

    def _outcome(self, error: OSError) -> DeliveryOutcome:
        """Say what an error means; the server's own words are left out, they may quote what it was given."""
        match error:
            case smtplib.SMTPRecipientsRefused():
                code = error.recipients[self.to][0]
                return _verdict(f"{self.host} answered {code} to the address {self.to}", code)
            case smtplib.SMTPAuthenticationError():
                # Another watcher may know the right password.
                return DeliveryOutcome("failed", f"{self.host} answered {error.smtp_code} to the user and password")
            case smtplib.SMTPResponseException():
                return _verdict(f"{self.host} answered {error.smtp_code}", error.smtp_code)
            case smtplib.SMTPNotSupportedError():
                return DeliveryOutcome("refused", f"{self.host} cannot do what it is asked: STARTTLS or a login")
            case TimeoutError():
                return DeliveryOutcome("failed", f"{self.host} did not answer within {self.timeout:g} s")
            case _:
                return DeliveryOutcome(
                    "failed", f"{self.host} cannot be reached: {error.strerror or type(error).__name__}"
                )

    def _hand_over(self, mail: EmailMessage) -> None:
        server: smtplib.SMTP
        if self.port == _TLS_PORT:
            server = smtplib.SMTP_SSL(self.host, self.port, timeout=self.timeout, context=ssl.create_default_context())
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=self.timeout)
        try:
            if self.starttls and self.port != _TLS_PORT:
                server.starttls(context=ssl.create_default_context())
            if self.user:
                server.login(self.user, os.environ.get(self.password_env, ""))
            server.send_message(mail, self.sender, [self.to])
        finally:
            # The message was taken or not by now: what the server says to a goodbye changes nothing.
            with contextlib.suppress(OSError):
                server.quit()
            server.close()

    def _mail(self, message: Message) -> EmailMessage:
        mail = EmailMessage()
        mail["From"], mail["To"] = self.sender, self.to
        mail["Subject"] = " ".join(message.title.split())
        # The same each time, so that mail programs show a message that comes twice once.
        mail["Message-ID"] = f"<{message.key}@cutaway.invalid>"
        mail["Date"] = formatdate(message.time)
        mail.set_content(f"{message.finding['message']}\n\n{message.title}\nkey {message.key}\n")
        return mail


def _verdict(reason: str, code: int) -> DeliveryOutcome:
    return DeliveryOutcome("refused" if 500 <= code < 600 else "failed", reason)


def _is_address(text: str) -> bool:
    name, at, host = text.rpartition("@")
    return bool(name and at and host) and text.isprintable() and not set(text) & set(' <>,;"')
