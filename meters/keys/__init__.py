"""The keys of a floor: credentials for the broker and Redis."""
