"""What all of pitlink's programs share: signals, logs, text on a terminal, and private files."""
