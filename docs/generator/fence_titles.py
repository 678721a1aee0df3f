"""The words after a fence as a title that readers see.

They say how the block is checked (tests/docs); mkdocs knows only a language and a title.
"""

import re

FENCE = re.compile(r'^```(\w+) +([^\n"]*?)(?: *"([^"\n]*)")?$', re.MULTILINE)
SILENT = ("synopsis", "figure", "with-model", "until-ctrl-c")


def titled(markdown: str) -> str:
    """The page with `text notes.txt` as `text title="notes.txt"`."""
    return FENCE.sub(_fence, markdown)


def _fence(found: re.Match[str]) -> str:
    language, words, reason = found.groups()
    if words.strip() == "no-run":
        title = f"not run by the tests: {reason}"
    elif words in SILENT or words.startswith(("title=", "{")):
        title = ""
    else:
        title = words
    return f'```{language} title="{title}"' if title else f"```{language}"
