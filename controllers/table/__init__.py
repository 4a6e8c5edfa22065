"""States of a table, and the changes between them: pure functions of immutable values."""
