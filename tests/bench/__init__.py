"""The benchmark, and tests that it works and counts correctly. No test checks a speed."""
