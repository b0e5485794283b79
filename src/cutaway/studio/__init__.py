"""The studio: an HTTP API over run folders and the web page that stands on it. Reads runs; asks, never acts."""
