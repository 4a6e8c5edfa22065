"""What all programs of pitlink share: signals, logs, private files, terminal and PDF pages."""
