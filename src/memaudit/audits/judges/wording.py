"""How outputs say whose word coverage is."""

ESTIMATE = "an ESTIMATE by shared words, not labels"
_BY_NAME = {
    "model": "as a model judged",
    "pointer": "by the turns that memories name as their sources",
}


def judged_how(judge: str, is_estimate: bool) -> str:
    """The remark that follows a judge's name."""
    if is_estimate:
        return ESTIMATE
    return _BY_NAME.get(judge.partition(" ")[0], "as labelled")
