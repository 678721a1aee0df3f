"""Prompt templates: one file each, with an id and a version; its hash names its text."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memaudit.core.errors import MemAuditError
from memaudit.models.quoted import RULE, Quotable, data_block
from memaudit.models.request import Message, Template

PROMPTS = ("memories", "units", "quotes", "requirements", "adjudication", "coverage")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template file: its front matter and its text."""

    id: str
    version: int
    text: str
    sha256: str

    @property
    def template(self) -> Template:
        """What a request says about the prompt it was made from."""
        return Template(self.id, self.sha256)

    @property
    def label(self) -> str:
        """Id and version, as provenance names them."""
        return f"{self.id}/{self.version}"

    def messages(self, **blocks: Quotable) -> tuple[Message, ...]:
        """The instructions as the system's words, and everything else as data blocks."""
        data = [data_block(name.replace("_", " "), value) for name, value in blocks.items()]
        return (Message("system", f"{self.text}\n\n{RULE}"), Message("user", "\n".join(data)))

    def to_json(self) -> dict[str, str | int]:
        """For a manifest."""
        return {"id": self.id, "version": self.version, "sha256": self.sha256}


@cache
def prompt(name: str) -> Prompt:
    """The template of that name."""
    whole = files("memaudit.natural.passes").joinpath("prompts", f"{name}.md").read_text("utf-8")
    return parse_prompt(whole, f"{name}.md")


def parse_prompt(whole: str, place: str) -> Prompt:
    """A template from its file's text."""
    head, _, text = whole.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if not whole.startswith("---\n") or fields.keys() != {"id", "version"} or not text.strip():
        raise MemAuditError(f"{place}: a prompt begins with id and version between two --- lines")
    if not fields["version"].isdecimal():
        raise MemAuditError(f"{place}: the version {fields['version']!r} is no whole number")
    sha256 = Template.of(fields["id"], whole).version
    return Prompt(fields["id"], int(fields["version"]), text.strip(), sha256)


def provenance(model: str, used: Prompt) -> str:
    """Who said so: the model's name and the prompt it was asked with."""
    return f"model:{model}:{used.label}"
