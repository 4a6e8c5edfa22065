"""The routes for programs and pages, a file for each subject."""
