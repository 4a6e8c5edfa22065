"""Tests of the Lua scripts, each status and each amount, on real Redis servers."""
