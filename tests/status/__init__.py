"""Tests of `pitlink status`: a real floor, each source that fails, and the screen."""
