"""CT7xx: several templates for one model, and which of them is read."""
