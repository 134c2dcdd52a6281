"""Mechanical fixes: guesses of the rules, applied only where rendering everything again proves them."""
