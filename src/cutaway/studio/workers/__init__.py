"""Processes that answer what needs latent vectors, a binding or a model: users' code never runs in the server's own.

The server's side is `pool`. Nothing is imported here: a worker would load the server with it, and start later.
"""
