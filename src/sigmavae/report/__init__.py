"""Run folders in, one self-contained HTML page out.

Nothing here imports torch or the rest of the package: a page can be made wherever the folders were copied.
"""

from sigmavae.report.page import write_page
from sigmavae.report.runs import ReportError, Run, find_runs, read_run

__all__ = ["ReportError", "Run", "find_runs", "read_run", "write_page"]
