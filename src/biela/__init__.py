"""biela."""
