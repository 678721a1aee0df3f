"""The notebook as a system, packages for it, and a capture of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memaudit.adapters.capture.capture import CaptureOutcome, capture
from memaudit.adapters.capture.systems import CaptureSettings, MemorySystem
from memaudit.core.package import Package

KEY = "sk-a-key-that-nobody-may-see"
NOTEBOOK = MemorySystem(
    "notebook", "Notebook", "notebook==1", Path(__file__).parent / "notebook.py", "mem0", "results"
)


def package(name: str, *texts: str) -> Package:
    return Package.model_validate({
        "name": name, "candidates": [], "units": [],
        "experiences": [{"id": f"e{at}", "text": text} for at, text in enumerate(texts)],
    })  # fmt: skip


Run = Callable[..., CaptureOutcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Capture packages with the notebook into `tmp_path / "store.json"`."""
    monkeypatch.setenv("MEMAUDIT_API_KEY", KEY)

    def go(packages: list[Package], patience: float = 30, **options: object) -> CaptureOutcome:
        settings = CaptureSettings(
            "model",
            "http://127.0.0.1:1/v1",
            None,
            dict(options),
            None,
            None,
            patience,  # type: ignore[arg-type]
        )
        return capture(NOTEBOOK, packages, settings, tmp_path / "store.json")

    return go
