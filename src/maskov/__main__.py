"""``python -m maskov``."""

from maskov.cli.main import main

main()
