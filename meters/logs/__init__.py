"""Setup of the log, options for the log, and limits on repeated warnings."""
