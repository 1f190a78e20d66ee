"""Is the memory doing its job? Each module looks at one subject and answers with findings; mends stand beside them."""
