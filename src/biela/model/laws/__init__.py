"""Laws of time: numbers, formulas, tables and motion profiles."""
