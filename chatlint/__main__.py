"""`python -m chatlint`."""

try:
    from chatlint.cli import main
except KeyboardInterrupt:
    import sys

    sys.stderr.write("interrupted\n")
    raise SystemExit(130) from None

main()
