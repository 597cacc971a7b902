"""The web server: who asks, within which limits, the API, and the pages."""
