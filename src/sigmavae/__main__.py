"""python -m sigmavae"""

import sys

from sigmavae.cli import main

if __name__ == "__main__":
    sys.exit(main())
