"""The floor file, and what it names: roles and rights, addresses, credentials and colors."""
