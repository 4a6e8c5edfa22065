"""The command `pitlink keys` makes these credentials of a floor, for the broker and for Redis."""
