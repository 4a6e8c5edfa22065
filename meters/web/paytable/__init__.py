"""The page at a table that shows players what each hand wins."""
