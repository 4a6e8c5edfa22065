"""Data types, errors and signals of the API behind the floor page."""
