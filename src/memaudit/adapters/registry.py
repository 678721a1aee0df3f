"""The importers by name. A new one is one file and one line here; conformance tests find it."""

from memaudit.adapters.amem import AMem
from memaudit.adapters.api_errors import api_error
from memaudit.adapters.graphiti import Graphiti
from memaudit.adapters.hindsight import Hindsight
from memaudit.adapters.langgraph import LangGraph
from memaudit.adapters.letta import Letta
from memaudit.adapters.markdown_folder import MarkdownFolder
from memaudit.adapters.mem0 import Mem0
from memaudit.adapters.mem0_search import Mem0Search
from memaudit.adapters.memobase import Memobase
from memaudit.adapters.memos import MemOS
from memaudit.adapters.openai_agents import OpenAIAgents
from memaudit.adapters.plain import Plain
from memaudit.adapters.protocol import Adapter
from memaudit.adapters.rows import no_list
from memaudit.adapters.source import Source
from memaudit.adapters.supermemory import Supermemory
from memaudit.adapters.written_stores import WrittenStores
from memaudit.core.errors import MemAuditError

ADAPTERS: dict[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        Mem0(), Mem0Search(), Letta(), MarkdownFolder(), AMem(), LangGraph(), Graphiti(),
        Memobase(), MemOS(), Supermemory(), Hindsight(), OpenAIAgents(), WrittenStores(), Plain(),
    )
}  # fmt: skip


def named_adapter(name: str) -> Adapter:
    """The importer of that name."""
    if name not in ADAPTERS:
        raise MemAuditError(f"unknown format {name!r}; known formats: {', '.join(ADAPTERS)}")
    return ADAPTERS[name]


def guess_adapter(source: Source) -> Adapter:
    """The importer that is surest of the content; the file's name plays no part."""
    scores = {name: adapter.recognises(source) for name, adapter in ADAPTERS.items()}
    best = max(scores.values())
    surest = [name for name, score in scores.items() if score == best]
    if best and len(surest) == 1:
        return ADAPTERS[surest[0]]
    part = source.parts[0]
    if api_error(part.parsed.document):
        raise MemAuditError(no_list(part, ()))
    if best:
        raise MemAuditError(
            f"{source.name}: could be {' or '.join(surest)}; say which with --format"
        )
    if part.parsed.document == []:
        raise MemAuditError(
            f"{part.name}: is an empty list, which any system may have written; "
            "say which with --format"
        )
    raise MemAuditError(
        f"{part.name}: is of no known format; give one with --format: {', '.join(ADAPTERS)}"
    )
