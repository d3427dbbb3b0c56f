"""Names, types, locks and registries: what everything else is made of."""
