"""A link's data in Redis: connections, Lua scripts, and the class that calls them."""
