"""The keys of a floor: who may speak to the broker and to Redis, and by what he is known."""
