"""A link's data in Redis, its mark outside, and the approval of its floor file."""
