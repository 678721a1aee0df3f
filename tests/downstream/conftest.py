"""No proxy and no real key reaches these tests."""

import pytest

NAMES = ("MEMAUDIT_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_ORG_ID")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NAMES, *PROXIES, *(one.lower() for one in PROXIES)):
        monkeypatch.delenv(name, raising=False)
