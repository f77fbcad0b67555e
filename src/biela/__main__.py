"""``python -m biela`` is the command ``biela``."""

import sys

from biela.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
