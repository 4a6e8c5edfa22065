"""Text on a terminal: printing, tables and progress, with control characters made visible."""
