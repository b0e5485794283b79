"""What travels between the studio and whoever asks it: every answer of the HTTP API as a typed value.

The page's TypeScript types are generated from these. Holds no logic and reads no run. Every list that can be long is a
`Page`; bulk columns travel as Arrow and have no type here. A time is in seconds since 1970, a duration in seconds. A
number that is not finite travels as null, and where that matters a count beside it says so.
"""
