"""The manifest of a finished reproduction: what was made, from what, by what, and every hash."""

from collections.abc import Mapping
from typing import Any

from memaudit.reproduce.findings import Findings
from memaudit.reproduce.folder import FORMAT, VERSION, text_sha256
from memaudit.reproduce.label_results import BLIND, BUDGETS
from memaudit.reproduce.settings import Settings, data_hashes, prompt_hashes, versions
from memaudit.stats.intervals import RESAMPLES

DECLARED = ("identity.source", "identity.memaudit", "versions", "times")
"""Fields that may differ between two machines, and the hashes of files that hold them."""


def manifest(
    identity: Mapping[str, Any],
    times: Mapping[str, Any],
    parts: Mapping[str, Mapping[str, str]],
    found: Findings,
    texts: Mapping[str, str],
) -> dict[str, Any]:
    """All of it, as JSON; `parts` are hashes of files, `texts` the documents."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "identity": dict(identity),
        "declared": list(DECLARED),
        "versions": versions(),
        "times": dict(times),
        "command_lines": command_lines(found.settings),
        "seeds": seeds(found),
        "scoreboard": found.board.counts,
        "prompts": prompt_hashes(),
        "data": data_hashes(),
        "parts": {name: dict(files) for name, files in parts.items()},
        "documents": {name: text_sha256(text) for name, text in sorted(texts.items())},
        **found.index.to_json(),
    }


def seeds(found: Findings) -> dict[str, Any]:
    """Every source of randomness; there is no other."""
    return {
        "sweep": found.runs["sweep"]["spec"]["seeds"],
        "stress": found.runs["stress"]["spec"]["seeds"],
        "writers": "the first 6 bytes of SHA-256 of '<seed> <package digest>'",
        "bootstrap": {"seed": 0, "resamples": RESAMPLES},
        "agreement": {"seed": found.agreement["seed"], "resamples": found.agreement["draws"]},
        "label_draws": {"seed": found.ratios["seed"], "draws": found.ratios["draws"]},
    }


def command_lines(settings: Settings) -> dict[str, str]:
    """What to type to make it all, and each part by itself."""
    labels = " ".join(f"--labels pass:{name}" for name in BLIND)
    passes = " ".join(f"pass:{name}" for name in BLIND)
    return {
        "all": f"memaudit reproduce all --out DIR {settings.options}",
        "verify": "memaudit reproduce verify DIR",
        "controlled": f"memaudit reproduce controlled --out DIR --seeds {settings.seeds}",
        "solvers": f"memaudit audit solvers --rows {settings.rows}",
        "agreement": f"memaudit audit agreement natural {passes}",
        "ratios": f"memaudit audit ratios natural {labels} --budget " + ",".join(map(str, BUDGETS)),
    }
