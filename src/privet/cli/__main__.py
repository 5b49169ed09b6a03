"""`python -m privet.cli` is `privet`."""

import sys

from privet.cli import main

if __name__ == "__main__":
    sys.exit(main())
