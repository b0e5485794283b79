"""Work that takes longer than a click: each a process of its own, which lives on when the page or the server ends.

The server's side is `the_jobs`; `work` is the process of one job. Imports nothing, so that such a process starts fast.
"""
