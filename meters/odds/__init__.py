"""Output of odds as tables and plots, and the cache of counts on disk."""
