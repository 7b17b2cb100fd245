"""``python -m seedstall``."""

from seedstall.cli.app import main

if __name__ == "__main__":
    main()
