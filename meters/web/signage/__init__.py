"""The signage pages."""
