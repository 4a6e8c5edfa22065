"""PDF files: the text, tables and pages of reports and payout slips."""
