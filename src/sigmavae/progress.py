"""What one sees while something takes time: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

QUIET_SECONDS = 10.0  # between lines where there is no terminal


class Progress(Protocol):
    """What a training, or the preparation of data, tells about itself."""

    def begin(self, name: str, total: int, done: int) -> None:
        """Work of so many steps begins, some of them done before."""

    def advance(self, done: int, values: Mapping[str, float | None]) -> None:
        """So many steps are done; values are the latest nll, rate, sigma and images_per_second."""

    def say(self, text: str) -> None:
        """A sentence worth a line of its own."""


class Silent:
    """Tells nothing."""

    def begin(self, name: str, total: int, done: int) -> None:
        """Nothing is shown."""

    def advance(self, done: int, values: Mapping[str, float | None]) -> None:
        """Nothing is shown."""

    def say(self, text: str) -> None:
        """Nothing is shown."""


class Bars:
    """Progress of one run after another, as bars on a terminal or as lines elsewhere."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._bars = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[values]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._name, self._total, self._values = "", 0, ""
        self._spoke = 0.0
        self._begun, self._begun_at = 0.0, 0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, name: str, total: int, done: int) -> None:
        """Work of so many steps begins, some of them done before."""
        self._name, self._total, self._values = name, total, ""
        self._begun, self._begun_at = self._clock(), done
        self._spoke = self._clock()
        self._task = self._bars.add_task(name, total=total, completed=done, values="")

    def advance(self, done: int, values: Mapping[str, float | None]) -> None:
        """So many steps are done."""
        self._values = describe(values)
        if self._task is not None:
            self._bars.update(self._task, completed=done, values=self._values)
        now = self._clock()
        if not self._console.is_terminal and (now - self._spoke >= QUIET_SECONDS or done == self._total):
            self._spoke = now
            self._console.print(
                f"{self._name}  {done}/{self._total}  {self._values}{self._left(done, now)}",
                highlight=False,
                markup=False,
            )

    def say(self, text: str) -> None:
        """A sentence worth a line of its own."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def _left(self, done: int, now: float) -> str:
        if done == self._total or done == self._begun_at:
            return ""
        seconds = (now - self._begun) / (done - self._begun_at) * (self._total - done)
        return f"  {seconds:.0f} s left" if seconds < 120 else f"  {seconds / 60:.0f} min left"


def describe(values: Mapping[str, float | None]) -> str:
    """Return the latest values as a short line with units."""
    parts = [
        ("nll", "{:.1f} nats"),
        ("rate", "rate {:.1f}"),
        ("sigma", "sigma {:.3f}"),
        ("images_per_second", "{:.0f} images/s"),
    ]
    known = ((form, values.get(key)) for key, form in parts)
    return "  ".join(form.format(value) for form, value in known if value is not None)
