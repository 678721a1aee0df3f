"""Blocks of data: each is read by what reads such data in the program."""

import ast
import csv
import importlib
import io
import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from memaudit.adapters.registry import import_store
from memaudit.checker import verify
from memaudit.core.optimum import Certificate
from memaudit.datasets.registry import read_conversations
from memaudit.io.packages import read_package
from memaudit.natural.label_files import read_labels
from tests.docs.commands import PROGRAM, check_call


def read_data(name: str, text: str, folder: Path) -> None:
    """A block that shows a format is of that format; it stays in the folder under its name."""
    match name:
        case "package":
            read_package(_kept(folder / "package.json", text))
        case "certificate":
            package = read_package(folder / "package.json")
            certificate = Certificate.from_json(json.loads(text))
            assert verify(package, certificate).valid
            _kept(folder / "certificate.json", text)
        case "chat":
            for loaded in read_conversations(_kept(folder / "chat.jsonl", text)):
                assert loaded.irregularities == ()
        case "units":
            assert read_labels(_kept(folder / "units.jsonl", text))
        case "memories":
            assert read_labels(folder / "units.jsonl", _kept(folder / "memories.jsonl", text))
        case "coverage":
            units, memories = folder / "units.jsonl", folder / "memories.jsonl"
            assert read_labels(units, memories, [_kept(folder / "coverage.jsonl", text)])
        case "store":
            store = import_store([_kept(folder / "store.jsonl", text)])
            assert store.count.skipped == {}
        case "yaml":
            check_workflow(yaml.safe_load(text))
        case _:
            raise AssertionError(f"nobody reads {name}")


def _kept(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def check_file(name: str, text: str) -> None:
    """A file of a page is well formed."""
    match Path(name).suffix:
        case ".json":
            json.loads(text)
        case ".jsonl":
            for line in text.splitlines():
                assert not line.strip() or json.loads(line)
        case ".csv":
            rows = list(csv.reader(io.StringIO(text)))
            assert {len(row) for row in rows} == {len(rows[0])}
        case ".yml" | ".yaml":
            check_workflow(yaml.safe_load(text))
        case ".toml":
            tomllib.loads(text)
        case ".py":
            compile(text, name, "exec")
        case ".ini" | ".txt" | ".md":
            assert text.strip()
        case other:
            raise AssertionError(f"{name}: nobody knows files of {other}")


def check_workflow(document: Any) -> None:
    """Every `run:` of a workflow that calls us names a command and options that exist."""
    for line in _run_lines(document):
        words = shlex.split(line.partition(" > ")[0])
        if words and words[0] == PROGRAM:
            check_call(words[1:])


def _run_lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "run":
                yield from str(inner).splitlines()
            else:
                yield from _run_lines(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _run_lines(inner)


def check_python(text: str, place: str) -> None:
    """Code that cannot run here compiles, and every name it imports from us is there."""
    tree = compile(
        text, place, "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PROGRAM):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                assert hasattr(module, alias.name), f"{place}: {node.module} has no {alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(PROGRAM):
                    importlib.import_module(alias.name)
