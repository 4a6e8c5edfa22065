"""The people of the floor: names, PINs, users, sessions, the log, the command."""
