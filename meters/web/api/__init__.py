"""API routes for programs and pages, one file for each subject."""
