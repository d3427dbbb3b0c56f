"""Configurations of networks and the members that follow from them."""
