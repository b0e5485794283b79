"""The HTTP API, a file for each thing that it speaks of. Handlers parse, call one function, and answer."""
