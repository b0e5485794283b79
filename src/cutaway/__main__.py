"""Lets `python -m cutaway` be the `cutaway` command."""

from cutaway.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
