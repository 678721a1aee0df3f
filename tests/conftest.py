"""A tiny named package, how hypothesis runs here, and what no test inherits: proxies, real keys,
settings, ignored signals."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from memaudit.cli.settings import keys
from memaudit.kernel.package.package import Package

settings.register_profile("memaudit", deadline=None)
settings.load_profile("memaudit")

KEYS = ("MEMAUDIT_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def pytest_xdist_auto_num_workers() -> int:
    """Two workers per core, since many tests wait for disks and browsers; one GiB for each."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return max(1, min(2 * cores, memory))


@pytest.fixture(autouse=True, scope="session")
def _clean_environment() -> Iterator[None]:
    # For the whole session: things that many tests share are made in it, too.
    with pytest.MonkeyPatch.context() as patch:
        variables = (key.variable for key in keys().values())
        for name in (*KEYS, *PROXIES, *(name.lower() for name in PROXIES), *variables):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_signal_is_ignored() -> None:
    """A command started in the background, or by nohup, ignores them, and so do its children."""
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture
def tiny() -> Package:
    """Two experiences, three candidates, two units, one query; optimum 3 at budget 3."""
    return Package.model_validate(
        {
            "name": "tiny",
            "experiences": [{"id": "e1", "text": "Ann moved to Rome."}, {"id": "e2"}],
            "candidates": [
                {"id": "m1", "experience": "e1", "kind": "raw", "text": "Ann moved", "cost": 2},
                {"id": "m2", "experience": "e1", "kind": "fact", "text": "Ann Rome", "cost": 1},
                {"id": "m3", "experience": "e2", "kind": "fact", "text": "Bob", "cost": "1/3"},
            ],
            "units": [{"id": "u1", "kind": "fact", "weight": 2}, {"id": "u2", "kind": "current"}],
            "queries": [{"id": "q1", "text": "Where?", "required": ["u2"]}],
            "coverage": [
                {"candidate": "m1", "unit": "u1", "value": 1},
                {"candidate": "m2", "unit": "u1", "value": 0.5},
                {"candidate": "m3", "unit": "u2", "value": 1},
            ],
        }
    )
