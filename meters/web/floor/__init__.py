"""The floor page, where wins are validated and paid and links are managed."""
