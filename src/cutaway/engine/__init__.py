"""Where work runs: child processes that are supervised and limited, and what goes between them and their parent.

`supervised` is the parent's side of a child, `child_side` the child's; `limits` and `confinement` say what a child may
take and put that in place; `messages` and `crossing_errors` are what they tell each other.
"""
