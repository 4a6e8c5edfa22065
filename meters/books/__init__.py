"""The data of a link in Redis: its meters and its ledger, the Lua scripts, and the audit."""
