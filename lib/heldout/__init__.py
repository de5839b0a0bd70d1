"""heldout: the thin library that the programs of bin/ share."""
