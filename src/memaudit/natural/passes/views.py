"""What each pass is allowed to see, and what it must not; the manifest says both."""

from pydantic import JsonValue

_SOURCE = ("speakers, texts and times of the turns", "order and times of the sessions")
_ASKED = ("questions", "answers", "gold evidence", "representations the dataset ships", "ids")

VIEWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "memories": (_SOURCE, (*_ASKED, "units")),
    "units": (_SOURCE, (*_ASKED, "memories")),
    "quotes": ((*_SOURCE, "units whose quotes did not hold"), (*_ASKED, "memories")),
    "requirements": (
        ("one question, when it was asked, its answer", "unit statements, kinds and times"),
        ("gold evidence", "representations the dataset ships", "ids", "source", "memories"),
    ),
    "adjudication": (
        (
            "one question, when it was asked, its answer",
            "unit statements, kinds, times and quotes",
            "the proposed requirements",
        ),
        ("gold evidence", "representations the dataset ships", "ids", "memories", "coverage"),
    ),
    "coverage": (
        ("texts of memories", "texts of units"),
        (*_ASKED, "who wrote a memory", "kinds", "costs", "requirements", "source"),
    ),
    "spot check": (
        ("texts of sampled memories", "texts of sampled units"),
        (*_ASKED, "who wrote a memory", "kinds", "costs", "requirements", "the first label"),
    ),
}
"""By pass: what it sees, and what it must not see."""


def views_json() -> dict[str, JsonValue]:
    """For a manifest."""
    return {
        name: {"sees": list(sees), "must_not_see": list(hidden)}
        for name, (sees, hidden) in VIEWS.items()
    }
