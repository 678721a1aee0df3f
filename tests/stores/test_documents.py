"""Documents cut into entries: what an entry carries, and that no line is lost."""
# ruff: noqa: RUF001

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.io.store_file import document_lines, read_store, store_digest, write_store
from memaudit.stores.documents import front_matter, has_structure, split_document
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store


def entries(text: str) -> list[str]:
    pieces = split_document(text, len(front_matter(text)))
    return [piece.text for piece in pieces if piece.kind == "entry"]


CUTS = {
    "bullets below a heading": (
        "## Ann\n- Likes tea.\n* Lives in Bonn.\n1. Has a cat.",
        ["Ann: Likes tea.", "Ann: Lives in Bonn.", "Ann: Has a cat."],
    ),
    "nested headings": (
        "# People\n## Ann ##\nLikes tea.\n## Bo\nLikes coffee.\n# Places\nBonn.",
        ["People: Ann: Likes tea.", "People: Bo: Likes coffee.", "Places: Bonn."],
    ),
    "a parent bullet is no entry": (
        "- Ann:\n  - likes tea\n  - work\n    - is a baker\n- Bo sings",
        ["Ann: likes tea", "Ann: work: is a baker", "Bo sings"],
    ),
    "a heading alone is none": ("# Ann\n## Bo\n\n# Cy #\n", []),
    "paragraphs and their lines": (
        "Ann likes tea\nand coffee.\n\nBo sings.",
        ["Ann likes tea and coffee.", "Bo sings."],
    ),
    "a bullet goes on": (
        "- Ann likes tea\n  and coffee\n\n  and cake.\n- Bo\nsings.\n- Cy\nDi left.",
        ["Ann likes tea and coffee and cake.", "Bo sings.", "Cy", "Di left."],
    ),
    "a line before a list": (
        "Ann likes:\n\n- tea\n- cake\n\nBo sings.",
        ["Ann likes: tea", "Ann likes: cake", "Bo sings."],
    ),
    "bold titles": (
        "**Ann**\nLikes tea.\n\n**Bo:**\n- Sings.\n\n**Never call Cy.**",
        ["Ann: Likes tea.", "Bo: Sings.", "**Never call Cy.**"],
    ),
    "underlined titles": (
        "Ann\n===\nLikes tea.\n\nWork\n---\nBaker.",
        ["Ann: Likes tea.", "Ann: Work: Baker."],
    ),
    "a table": (
        "## People\n| name | likes |\n|---|:-:|\n| Ann | tea |\n| Bo | |\n| Cy | a \\| b | extra |",
        [
            "People: name: Ann; likes: tea",
            "People: name: Bo",
            "People: name: Cy; likes: a \\| b; extra",
        ],
    ),
    "rows without a head": ("| Ann | tea |\n| Bo | cake |", ["Ann; tea", "Bo; cake"]),
    "facts line by line": (
        "Ann swims.\nAnn said “no.”\nShe is tired",
        ["Ann swims.", "Ann said “no.”", "She is tired"],
    ),
    "a profile": ("Name: Ann\nHome: Bonn\nPets: a cat", ["Name: Ann", "Home: Bonn", "Pets: a cat"]),
    "Hermes": ("Ann likes\n- tea\n§\n# Bo sings.\n§\n", ["Ann likes - tea", "# Bo sings."]),
    "code": ("# Run\n```sh\nmake\n  test\n```\n~~~\n~~~\n", ["Run: make test"]),
    "rules, comments, front matter": (
        "---\nname: x\n---\n# A\n<!-- not\nshown -->\n- one\n\n---\n\n> quoted",
        ["A: one", "A: quoted"],
    ),
    "an open comment and open code": (
        "<!-- Ann\n- tea\n```\ncake",
        ["<!-- Ann: tea", "<!-- Ann: cake"],
    ),
    "no structure": ("Ann likes tea.", ["Ann likes tea."]),
    "Chinese": (
        "# 安娜\n- 喜欢茶。\n- 住在波恩。\n她唱歌。",
        ["安娜: 喜欢茶。", "安娜: 住在波恩。", "安娜: 她唱歌。"],
    ),
    "a comment beside words": (
        "<!-- May --> Ann moved <!-- chat 4 -->",
        ["<!-- May --> Ann moved <!-- chat 4 -->"],
    ),
    "a year does not begin a list": (
        "Ann moved to Bonn in\n2020. She is a baker.\n\nBorn in\n12. May 1990",
        ["Ann moved to Bonn in 2020. She is a baker.", "Born in 12. May 1990"],
    ),
    "facts between rules": (
        "Ann likes tea.\n---\nName: Bo\n---\nCy",
        ["Ann likes tea.", "Name: Bo", "Cy"],
    ),
    "code and paragraphs inside a bullet": (
        "- Ann\n  ```\n  x = 1\n  ```\n  - nurse\n\n  Lives in Oslo.",
        ["Ann: x = 1", "Ann: nurse", "Ann: Lives in Oslo."],
    ),
    "titles of a few words": (
        "Rules of the house\n* No dogs.\n\nAnn's pets:\n| name |\n|---|\n| Tom |\n"
        "Some intro.\n**Bo**\n- sings",
        ["Rules of the house: No dogs.", "Ann's pets: name: Tom", "Some intro.", "Bo: sings"],
    ),
    "lower-case titles after a list": ("- nurse\nhobbies:\n- tea", ["nurse", "hobbies: tea"]),
    "other marks": (
        "✅ buy tea\n❌ call Bo\n– cake\n● bread\n(2) milk\na) rice\n1、茶",
        ["✅ buy tea", "❌ call Bo", "cake", "bread", "milk", "rice", "茶"],
    ),
    "bold and wrapped fields": (
        "**Name:** Ann\n**Job:** baker\n\nLikes: long walks,\n  tea\nDislikes: noise\n\n"
        "姓名：王\n家：波恩",
        [
            "**Name:** Ann",
            "**Job:** baker",
            "Likes: long walks, tea",
            "Dislikes: noise",
            "姓名：王",
            "家：波恩",
        ],
    ),
    "a table without outer pipes": (
        "name | likes\n---|---\nAnn | tea\n| Bo | cake",
        ["name: Ann; likes: tea", "name: Bo; likes: cake"],
    ),
    "quotes": (
        "> [!note] Work\n> - baker\n>\n> - nurse",
        ["[!note] Work: baker", "[!note] Work: nurse"],
    ),
    "a log": ("[2023-05-08] moved\n2023-06-01: left", ["[2023-05-08] moved", "2023-06-01: left"]),
    "tags": ("<human>\nAnn sings\n</human>\nBo", ["human: Ann sings", "Bo"]),
    "a sentence that goes on": (
        "She worked for Acme Inc.\nbefore moving.",
        ["She worked for Acme Inc. before moving."],
    ),
    "Chinese parents": ("工作：\n- 面包师", ["工作: 面包师"]),
    "nothing": ("\n \n\t\n", []),
}


@pytest.mark.parametrize("name", CUTS)
def test_cuts(name: str) -> None:
    text, wanted = CUTS[name]
    assert entries(text) == wanted


LINES = st.sampled_from(
    [
        "",
        "# A",
        "## B #",
        "- x",
        "  - y",
        "\t* z",
        "1. n",
        "text",
        "  more",
        "Key: v",
        "| a | b |",
        "|---|---|",
        "| c |",
        "```",
        "~~~",
        "---",
        "===",
        "**T**",
        "§",
        "<!--",
        "-->",
        "> q",
        "a:",
        "\x0c",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(LINES, ENDS)), LINES)
def test_lines_put_together_are_the_document(lines: list[tuple[str, str]], last: str) -> None:
    """Mixed line ends too; every word of an entry without headings stands in its lines."""
    text = "".join(line + end for line, end in lines) + last
    all_lines, pieces = document_lines(text), split_document(text)
    assert "".join(all_lines) == text
    numbers = [n for piece in pieces for n in range(piece.first, piece.last + 1)]
    assert numbers == list(range(1, len(all_lines) + 1))
    for piece in pieces:
        if piece.kind == "entry" and not piece.context:
            own = "".join(all_lines[piece.first - 1 : piece.last])
            words = [word.strip(":;") for word in piece.text.split()]  # heads of tables are named
            assert all(word in own or word in text for word in words)


def test_large_documents_stay_quick() -> None:
    """Ten thousand headings, bullets that nest without end, lines of blanks and open comments."""
    assert len(entries("".join(f"# {n}\n- e\n" for n in range(10_000)))) == 10_000
    deep = entries("".join(f"{' ' * n}- b{n}\n" for n in range(2_000)))
    assert len(deep) == 1
    assert len(deep[0].split(": ")) == 13
    assert len(entries("# a" + " " * 200_000 + "b\n" + "<!--\n" * 5_000)) == 1
    assert len(entries("| a |\n" * 10_000)) == 10_000


def test_structure() -> None:
    assert has_structure("# A\nx")
    assert has_structure("- x\n- y")
    assert not has_structure("Ann likes tea.\nBo sings.\n")
    assert not has_structure("Ann is a baker\nAnn has a cat\n- Bo likes tea")


def test_letta_blocks_and_their_lines(tmp_path: Path) -> None:
    """Entries by default, with their lines; the store holds the block and reads back the same."""
    value = "About two friends.\r\n\r\n## Ann\r\n- Likes tea.\r\n- Work:\r\n  - baker\r\n"
    other = {"id": "c", "label": "c", "value": "# Only a title"}
    agent = {"agents": [], "blocks": [{"id": "b", "label": "human", "value": value}, other]}
    path = tmp_path / "agent.json"
    path.write_text(json.dumps(agent))
    store = import_store([path])
    assert [(m.id, m.text, m.lines, m.context) for m in store.memories] == [
        ("b:L1", "About two friends.", (1, 1), ()),
        ("b:L4", "Ann: Likes tea.", (4, 4), ("Ann",)),
        ("b:L6", "Ann: Work: baker", (6, 6), ("Ann", "Work")),
    ]
    assert [(document.id, document.text) for document in store.documents] == [("b", value)]
    assert store.count.skipped == {"a document without an entry": 1}
    write_store(store, tmp_path / "store.json")
    assert read_store(tmp_path / "store.json") == store
    lines = import_store([path], options=ImportOptions(view="lines"))
    assert [memory.id for memory in lines.memories][:2] == ["b:1", "b:3"]
    assert store_digest(lines) != store_digest(store)


def test_a_view_is_part_of_a_stores_identity(tmp_path: Path) -> None:
    """One bullet without a heading has the same text in two views, and two digests."""
    (tmp_path / "MEMORY.md").write_text("Ann likes tea.")
    stores = [
        import_store([tmp_path / "MEMORY.md"], options=ImportOptions(view=view))
        for view in ("entries", "full")
    ]
    assert {store.active[0].text for store in stores} == {"Ann likes tea."}
    assert len({store_digest(store) for store in stores}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "# Ann\n\n- likes **tea**\n- works:\n  - baker\n",
        "[Ann](ann.md) likes tea.\n\n- fish\n",
        '"Tea", says Ann.\n',
        "{ann}\n\n{bo}\n",
        "likes tea\nand cake\n",
    ],
)
@pytest.mark.parametrize("format", [None, "plain"])
def test_a_lone_file_is_read_as_in_its_folder(
    text: str, format: str | None, tmp_path: Path
) -> None:
    """Whatever it begins with, and also if it was called plain; so are two of them."""
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text(text)
    alone, inside = import_store([folder / "CLAUDE.md"], format), import_store([folder])
    assert (alone.origin.format, alone.origin.view) == ("markdown", "entries")
    assert alone.memories == inside.memories != ()
    (folder / "MEMORY.md").write_text("- swims\n")
    both = import_store([folder / "CLAUDE.md", folder / "MEMORY.md"], format)
    assert both.memories == import_store([folder]).memories
