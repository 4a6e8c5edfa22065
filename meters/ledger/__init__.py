"""What a link's ledger decides, without Redis: transfers, the lives of claims, rows."""
