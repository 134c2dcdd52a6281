"""What users ask of a template beyond the rules: what must be there, what must stay, what is accepted."""
