"""Progress that remembers what it was told."""

from sigmavae.progress import Silent


class Heard(Silent):
    """Remembers."""

    def __init__(self):
        self.begun: list[tuple[str, int, int]] = []
        self.steps: list[tuple[int, dict]] = []
        self.said: list[str] = []

    def begin(self, name: str, total: int, done: int) -> None:
        self.begun.append((name, total, done))

    def advance(self, done: int, values) -> None:
        self.steps.append((done, values))

    def say(self, text: str) -> None:
        self.said.append(text)
