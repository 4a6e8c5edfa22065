"""The panel: the dealer's web page of one table, served by the process of the table's agent."""
