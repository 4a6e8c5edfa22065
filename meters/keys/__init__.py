"""Credentials of a floor for the broker and for Redis, made by `pitlink keys`."""
