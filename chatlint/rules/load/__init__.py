"""CT1xx: what is wrong before anything is rendered."""
