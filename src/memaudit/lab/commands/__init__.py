"""The commands of the laboratory; what they need comes with the extra `lab`."""

from memaudit.cli.commands import EXPLORE, LABELS, START, STORE, STUDIES, Command

COMMANDS = (
    Command(
        "demo",
        START,
        "memaudit.lab.commands.demo:demo",
        "Run a short benchmark, verify a certificate, write a report.",
    ),
    Command(
        "capture",
        STORE,
        "memaudit.lab.commands.capture:capture",
        "Run a memory system and save what it wrote.",
    ),
    Command(
        "diagnose",
        STORE,
        "memaudit.lab.commands.diagnose:diagnose",
        "Find what lost an answer: writing, retrieval or reading.",
    ),
    Command(
        "label", LABELS, "memaudit.lab.commands.label:label", "Label what memories cover, blind."
    ),
    Command(
        "audit",
        LABELS,
        "memaudit.lab.commands.audit:audit",
        "Audit packages, labels, judges and solvers.",
    ),
    Command(
        "run",
        STUDIES,
        "memaudit.lab.commands.run:run",
        "Score writers against certified optima on many packages.",
    ),
    Command(
        "report",
        STUDIES,
        "memaudit.lab.commands.run:report",
        "Write the HTML report of a run or a diagnosis.",
    ),
    Command(
        "study", STUDIES, "memaudit.lab.commands.study:study", "Study writers, readers and judges."
    ),
    Command(
        "reproduce",
        STUDIES,
        "memaudit.lab.commands.reproduce:reproduce",
        "Recompute the paper's numbers and compare.",
    ),
    Command(
        "serve",
        EXPLORE,
        "memaudit.lab.commands.explorer:serve",
        "Browse runs, packages, stores and certificates.",
    ),
)
