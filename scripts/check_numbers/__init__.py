"""Whether every number that Cutaway shows of a session is the one that plain numpy computes.

`make check-numbers DATA=mnist.npz` trains, evaluates, corrects labels by keyboard, trains again and compares; reads the
numbers from the studio's page, its HTTP API and the commands; and holds each against its definition, which
docs/reference/numbers.md has in words.
"""
