"""Plans: the steps of a graph for given sizes, and what a back end has to offer to run them."""
