"""What all of pitlink's programs share: signals, logs, private files, terminal and PDF pages."""
