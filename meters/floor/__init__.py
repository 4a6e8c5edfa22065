"""The floor file, the rights of its people, and the addresses, credentials and colors in it."""
