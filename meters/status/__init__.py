"""The state of a whole floor on one screen, for the person on call. The package only reads."""
