"""The variables a system's process gets: a short list, no other key, telemetry off."""

from collections.abc import Mapping

from memaudit.adapters.capture.systems import System

PASSED = frozenset({
    "PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "HF_HOME", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy",
})  # fmt: skip
"""Everything else stays behind: an OPENROUTER_API_KEY, for one, makes Mem0 ask another company."""

ALWAYS = {"DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}


def child_environment(
    system: System, variables: Mapping[str, str], folder: str, key: str
) -> dict[str, str]:
    """The environment of a driver. `folder` is where a system may leave files of its own."""
    passed = {name: value for name, value in variables.items() if name in PASSED}
    return {
        **passed,
        **ALWAYS,
        **dict(system.quiet),
        "MEM0_DIR": folder,
        "LETTA_DIR": folder,
        "OPENAI_API_KEY": key,
    }
