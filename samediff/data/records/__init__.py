"""Records: values, where they came from, and what reads them."""
