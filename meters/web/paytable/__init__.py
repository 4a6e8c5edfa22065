"""The page that shows players what each hand wins."""
