"""The web server of the service and of the panels: limits, headers and static files."""
