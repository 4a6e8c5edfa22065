"""Tests of the web side: the API over real HTTP, and the pages in a real browser."""
