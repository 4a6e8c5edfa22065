"""Output of the odds of wagers as tables and plots, and the cache of counts on disk."""
