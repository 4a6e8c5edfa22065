"""The page that shows the players at a table what each hand wins."""
