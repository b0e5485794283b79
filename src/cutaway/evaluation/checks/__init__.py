"""The families of checks behind `cutaway.evaluation.check`; each looks at what was seen and writes to a sheet."""
