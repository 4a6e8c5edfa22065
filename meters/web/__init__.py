"""The web side of the meter service: signage, the API, its event stream, metrics and health."""
