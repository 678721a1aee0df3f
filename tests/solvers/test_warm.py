"""A Ctrl-C that falls into a callback of the compiler."""

import ctypes

import pytest

from memaudit.solvers.compiled.warm import interrupts_kept

CALLBACK = ctypes.CFUNCTYPE(None)


def call_back_with(error: BaseException) -> None:
    """Raise the error where only C could pass it on."""

    def fail() -> None:
        raise error

    CALLBACK(fail)()


def test_an_interrupt_is_raised_at_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        call_back_with(KeyboardInterrupt())
    assert capfd.readouterr().err == ""


def test_other_errors_are_reported_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", lambda one: reported.append(one.exc_type))
    with interrupts_kept():
        call_back_with(ValueError())
    call_back_with(KeyboardInterrupt())
    assert reported == [ValueError, KeyboardInterrupt]
