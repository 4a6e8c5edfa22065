"""The page at a table that shows what each hand wins."""
