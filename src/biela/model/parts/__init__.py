"""Models used inside others, once or many times."""
