"""Known defects, at least one for each row of the law and of the duties; tests must find each."""
