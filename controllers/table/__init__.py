"""States of a table, and the changes between them: functions of immutable values."""
