"""The memory systems that can be run: a plain dict, one driver script each."""

from dataclasses import dataclass
from pathlib import Path

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
    )
}  # fmt: skip


def named_system(name: str) -> System:
    """The system of that name."""
    if name == "letta":
        raise MemAuditError(
            "letta is not captured (its server could not be run for a test); export the agent and "
            "its passages, then memaudit import"
        )
    if name not in SYSTEMS:
        raise MemAuditError(f"unknown system {name!r}; choose {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
