"""CT6xx: special tokens, where sequences begin and where they stop."""
