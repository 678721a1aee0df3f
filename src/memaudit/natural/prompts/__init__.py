"""The prompts of the model passes: one Markdown file per pass, with an id and a version."""

from memaudit.models.prompt import Prompt, load_prompt

PROMPTS = ("memories", "units", "quotes", "requirements", "adjudication", "coverage")


def pass_prompt(name: str) -> Prompt:
    """The prompt of a pass."""
    return load_prompt("memaudit.natural", name)
