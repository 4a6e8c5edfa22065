"""The web server of both sides: uvicorn, limits, headers and static files."""
