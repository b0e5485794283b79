"""Processes that answer what needs latent vectors, a binding or a model: users' code never runs in the server's own."""

from cutaway.studio.workers.pool import Workers

__all__ = ["Workers"]
