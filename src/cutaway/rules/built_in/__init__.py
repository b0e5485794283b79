"""One file per rule; `cutaway.registry` lists them. Each docstring is also the rule's page in the documentation."""
