"""Text on a terminal: printing, tables and progress bars. Control characters are made visible."""
