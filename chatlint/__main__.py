"""`python -m chatlint`."""

from chatlint.cli import main

main()
