"""The memory systems that can be run: a plain dict, one driver script each."""

from dataclasses import dataclass
from pathlib import Path

from memaudit.adapters.capture.layout import Layout, blocks_and_passages, one_list
from memaudit.core.errors import MemAuditError

DRIVERS = Path(__file__).parent / "drivers"


@dataclass(frozen=True, slots=True)
class System:
    """A system as its driver runs it, and as the importer of its exports knows it."""

    name: str
    label: str
    requirements: str
    """What pip installs: the versions this capture was tested with."""
    driver: Path
    """The file that `drivers/serve.py` loads inside the system's environment."""
    format: str
    list_key: str
    """Under which the importer expects the rows."""
    quiet: tuple[tuple[str, str], ...] = ()
    """Variables by which the system's makers let one switch telemetry off."""
    layout: Layout = one_list
    """How the rows lie in the files of an export."""


_LETTA = (  # mcp and fastmcp are not the newest: those do not fit this Letta
    "letta==0.16.8 aiosqlite==0.22.1 sqlite-vec==0.1.9 asyncpg==0.32.0 mcp==1.22.0 fastmcp==2.13.3"
)

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System(
            "mem0", "Mem0", "mem0ai==2.2.1", DRIVERS / "on_mem0.py", "mem0", "results",
            (("MEM0_TELEMETRY", "False"),),
        ),
        System(
            "amem", "A-Mem", "a-mem==0.2.6", DRIVERS / "on_amem.py", "amem", "notes",
            (("ANONYMIZED_TELEMETRY", "False"), ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
             ("HF_HUB_DISABLE_TELEMETRY", "1")),
        ),
        System(
            "langmem", "LangMem", "langmem==0.0.30 langgraph==1.2.20 langchain-openai==1.7.3",
            DRIVERS / "on_langmem.py", "langgraph", "items",
            (("LANGSMITH_TRACING", "false"), ("LANGCHAIN_TRACING_V2", "false")),
        ),
        System(
            "letta", "Letta", _LETTA, DRIVERS / "on_letta.py", "letta", "passages",
            (("LETTA_TRACK_PROVIDER_TRACE", "false"),), blocks_and_passages,
        ),
    )
}  # fmt: skip


def named_system(name: str) -> System:
    """The system of that name."""
    if name not in SYSTEMS:
        raise MemAuditError(f"unknown system {name!r}; choose {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
