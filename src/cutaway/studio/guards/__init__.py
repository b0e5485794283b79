"""Who may ask, and what: small pure ASGI layers around the studio, each with one worry and its own tests."""
