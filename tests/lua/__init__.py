"""The Lua scripts, each status and each figure, on real Redis servers."""
