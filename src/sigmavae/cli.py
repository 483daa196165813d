"""The program: finds the verb, and turns errors that are the user's to mend into one line."""

from __future__ import annotations

import importlib
import io
import logging
import os
import sys
from collections.abc import Sequence

OVERVIEW = """\
sigmavae: variational autoencoders with calibrated decoders

  sigmavae demo                         three decoders side by side, and a page that explains them
  sigmavae train RECIPE [--out DIR]     train and evaluate; the same command resumes
  sigmavae evaluate RUN                 metrics of a finished run
  sigmavae sample RUN                   images from the prior, as a picture
  sigmavae reconstruct RUN              real images beside their reconstructions, as a picture
  sigmavae report DIR                   one page about all runs below a folder
  sigmavae data list|check|fetch|show   data sets and your own: what is there, what is bad, downloads, a look

Example: sigmavae train fashion-optimal --out runs/mine
Each verb explains itself: sigmavae train --help
"""

VERBS = ("demo", "train", "evaluate", "sample", "reconstruct", "report", "data")


def program() -> None:
    """Run one verb and end the program with its exit code."""
    code = main()
    if "torch" in sys.modules:
        from sigmavae.devices import exit_at_once

        exit_at_once(code)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0 done, 2 the user's to mend, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name of a file need not be of any alphabet
    if not words or words[0] in ("-h", "--help", "help"):
        print(OVERVIEW, end="")
        return 0 if words else 2
    if words[0] == "--version":
        from sigmavae import __version__

        print(f"sigmavae {__version__}")
        return 0
    if words[0] not in VERBS:
        return _complain(f"no verb is called {words[0]!r}: there are {', '.join(VERBS)}")
    from sigmavae.errors import SigmaVAEError
    from sigmavae.memory import keep_freed_memory
    from sigmavae.report import ReportError

    # Fabric's remarks about what it set up belong to a log file at most; its warnings stay.
    logging.getLogger("lightning_fabric.utilities.rank_zero").setLevel(logging.WARNING)
    keep_freed_memory()  # before torch takes its first large block
    try:
        # Only the verb's own module is imported: help and errors do not wait for torch.
        importlib.import_module(f"sigmavae.verbs.{words[0]}").main(words[1:])
    except (SigmaVAEError, ReportError) as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        print("\nsigmavae: interrupted; the same command goes on from the last checkpoint", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of our output has left
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        return _complain(f"{error.filename}: {error.strerror}")
    return 0


def _complain(message: str) -> int:
    print(f"sigmavae: {' '.join(message.splitlines())}", file=sys.stderr)  # a file's name may have several lines
    return 2
