"""Named suites: what a run runs unless it is told otherwise."""

from dataclasses import dataclass

from memaudit.core.errors import MemAuditError
from memaudit.generators.registry import PUBLISHED

REFERENCES = (
    "opt",
    "gvt",
    "greedy",
    "density_only",
    "fact_only",
    "summary_only",
    "no_tombstone_opt",
    "no_tombstone_gvt",
    "generic_opt",
    "random_feasible",
)
ESTIMATED = ("estimated_gvt", "estimated_gvt_ridge", "estimated_greedy")
RAW = ("recency_raw", "reservoir_raw")
PROXIES = ("memgpt_style", "mem0_style", "amem_style", "amac_style")
"""They go by what texts say; the published distributions have placeholders for texts."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Defaults of a kind of run."""

    about: str
    distributions: tuple[str, ...]
    seeds: str
    budgets: str
    writers: tuple[str, ...]


# Seeds of the event graph below 100 were looked at while writers were made.
SUITES = {
    "controlled": Suite(
        about="the eight published distributions",
        distributions=PUBLISHED,
        seeds="100",
        budgets="2,4,6,8,16",
        writers=(*REFERENCES, *RAW, *ESTIMATED),
    ),
    "event_graph": Suite(
        about="English sessions from a hidden event graph",
        distributions=("event_graph",),
        seeds="100-119",
        budgets="0.02,0.05,0.10,0.15",
        writers=(*REFERENCES, *RAW, *ESTIMATED, *PROXIES),
    ),
    "demo": Suite(
        about="a short run over the event graph",
        distributions=("event_graph:experiences=14",),
        seeds="100-139",
        budgets="0.02,0.05,0.10",
        writers=(*REFERENCES, *RAW, *ESTIMATED, *PROXIES),
    ),
}


def named_suite(name: str) -> Suite:
    """The suite of that name, or an error that lists them."""
    if name not in SUITES:
        raise MemAuditError(f"unknown suite {name!r}; known suites: {', '.join(SUITES)}")
    return SUITES[name]
