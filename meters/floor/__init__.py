"""The floor file (the facility's settings), and the addresses, credentials and colors in it."""
