"""PDF files of reports and payout slips: text, tables and pages."""
