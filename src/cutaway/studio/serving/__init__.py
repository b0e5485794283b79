"""The studio as a server: routes, guards and the page as one application, its connections, its beginning and end."""
