"""Web server: authentication, limits, the API, and the pages."""
