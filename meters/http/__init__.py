"""The web server of the service and of the table panels: limits, headers and static files."""
