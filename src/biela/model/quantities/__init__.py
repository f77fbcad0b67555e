"""Numbers with units: dimensions, units, and texts with parameters."""
