"""A link's data in Redis: connections, Lua scripts, and the approval of its floor file."""
