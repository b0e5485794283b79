"""The analyses that come with Cutaway, one in each file; `cutaway.registry` names them."""
