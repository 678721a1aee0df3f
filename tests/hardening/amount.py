"""How much is tried: a little in every run of the suite, as much as one likes by hand."""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("MEMAUDIT_FUZZ_EXAMPLES", "20"))
"""Inputs a target; MEMAUDIT_FUZZ_EXAMPLES=10000 for a long run."""

KILLS = int(os.environ.get("MEMAUDIT_KILLS", "200"))
"""Processes killed over all commands together."""

MORE = "MEMAUDIT_KILLS" in os.environ
"""Whether to kill before every call, also where there are hundreds of them."""

SEED = int(os.environ.get("MEMAUDIT_FUZZ_SEED", "0"))
"""Another seed, other kills and, where it is not 0, other inputs."""

FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=SEED == 0,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
"""The same inputs each time, unless another seed is asked for (--hypothesis-seed chooses one)."""


def amount_for(target: str) -> settings:
    """Fewer inputs for targets that take a second each."""
    return settings(FUZZ, max_examples=EXAMPLES // 5) if target.startswith("library") else FUZZ
