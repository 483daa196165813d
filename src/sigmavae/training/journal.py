"""metrics.jsonl: one JSON object a line, never more than a run knows about itself."""

from __future__ import annotations

import json
from pathlib import Path

from sigmavae.files import write_atomically


class Journal:
    """Appends lines to metrics.jsonl; a resumed run first takes back what it had written after its checkpoint."""

    def __init__(self, folder: Path, resume_step: int) -> None:
        self.path = folder / "metrics.jsonl"
        kept = [line for line in Journal.read(folder) if line["step"] <= resume_step]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        write_atomically(self.path, lambda temporary: _write(temporary, text))
        self.seconds = max((line.get("seconds") or 0.0 for line in kept), default=0.0)

    def write(self, line: dict[str, object]) -> None:
        """Append a line and hand it to the operating system, so that a kill loses nothing."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    @staticmethod
    def read(folder: Path) -> list[dict[str, float]]:
        """Return the lines of a folder's metrics.jsonl, without a last one that was cut short."""
        path = folder / "metrics.jsonl"
        if not path.exists():
            return []
        lines = []
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(text))
            except json.JSONDecodeError:  # the last line of a run that was killed while writing it
                break
        return lines


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
