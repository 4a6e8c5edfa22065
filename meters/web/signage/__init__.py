"""The signage pages, which show the meters to patrons."""
