"""The page over real HTTP: closed without the token, blind, and strict about what is sent."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.lab.labels.annotate.app import guideline
from memaudit.lab.serving import POLICY
from tests.lab.labels.annotate.small_frames import SECRETS, Served, frame_folder, served

PATHS = (
    "/",
    "/house.css",
    "/static/annotate.css",
    "/static/annotate.js",
    "/resume",
    "/cells/1",
    "/unlabelled-after/0",
    "/labels.csv",
    "/nowhere",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = frame_folder(tmp_path_factory.mktemp("http") / "frame", 12)
    with served(folder, "ann <b>") as found:
        yield found


def test_nothing_without_the_token(server: Served) -> None:
    for path in PATHS:
        assert server.send("GET", path, {})[0] == 401
        foreign = {**server.cookie(), "host": "evil.example"}
        status, headers, body = server.send("GET", path, foreign)
        assert (status, headers["content-security-policy"]) == (421, POLICY)
        assert b"rabbits" not in body
    status, headers, _ = server.send("GET", f"/?token={server.token}", {})
    assert (status, headers["location"]) == (303, "/")
    assert headers["set-cookie"].startswith(f"memaudit_{server.port}={server.token};")


def test_writes_need_origin_and_cookie(server: Served) -> None:
    body = json.dumps({"position": 1, "label": "full", "note": ""}).encode()
    as_json = {"content-type": "application/json"}
    for headers, status in (
        ({**as_json, "origin": server.origin}, 401),
        ({**as_json, **server.cookie()}, 403),
        ({**as_json, **server.cookie(), "origin": "http://evil.example"}, 403),
        ({**server.cookie(), "origin": server.origin, "content-type": "text/plain"}, 400),
    ):
        for path in ("/decisions", "/notes"):
            assert server.send("POST", path, headers, body)[0] == status
    for headers in ({"origin": server.origin}, server.cookie()):
        assert server.send("POST", "/undo", headers)[0] in (401, 403)
    assert json.loads(server.get("/resume")[2])["progress"]["done"] == 0


def test_no_answer_holds_the_key(server: Served) -> None:
    server.post("/notes", {"position": 2, "note": "n", "finished": True})
    answers = [
        json.dumps(server.post("/decisions", {"position": 2, "label": "none", "note": "n"})),
        json.dumps(server.post("/undo", {})),
        *(str(server.get(f"/cells/{position}")) for position in range(1, 13)),
        *(str(server.get(path)) for path in PATHS),
    ]
    assert any("rabbits" in answer for answer in answers)
    for answer in answers:
        assert [secret for secret in SECRETS if secret in answer] == []
        assert "c0001" not in answer


def test_the_page_is_strict(server: Served) -> None:
    status, headers, body = server.get("/")
    page = body.decode()
    assert (status, headers["content-security-policy"]) == (200, POLICY)
    assert headers["content-type"].startswith("text/html")
    assert "server" not in headers
    assert "ann &lt;b&gt;" in page
    assert " style=" not in page
    assert re.search(r"<[^>]*\son\w+\s*=", page) is None
    assert page.count("<script") == page.count("<script src=") == 1
    assert "http://" not in page
    assert "https://" not in page


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"position": 1}',
        b'{"position": "1", "label": "full"}',
        b'{"position": 1, "label": "yes"}',
        b'{"position": 13, "label": "full"}',
        b'{"position": 0, "label": "full"}',
        b'{"position": 1, "label": "full", "annotator": "ben"}',
        b'{"position": 1, "label": "full", "note": "\\u0000"}',
        b"\xff\xfe",
        b'{"position": 1, "label": "full", "note": "\\ud800"}',
        b'{"position": 1, "label": "full", "note": "' + b"x" * 10_001 + b'"}',
        b'{"position": 1, "position": 2, "label": "full"}',
        b'{"position": 1, "label": "none", "label": "full"}',
        b'\xef\xbb\xbf{"position": 1}',
        b'{"position": NaN, "label": "full"}',
        b'{"position": 1e400, "label": "full"}',
        b" " * 200_000,
    ],
)
def test_what_makes_no_sense_is_refused(server: Served, body: bytes) -> None:
    headers = {**server.cookie(), "origin": server.origin, "content-type": "application/json"}
    before = server.get("/labels.csv")[2]
    status, _, answer = server.send("POST", "/decisions", headers, body)
    assert status == 400
    assert "\n" not in json.loads(answer)["error"]
    assert server.get("/labels.csv")[2] == before


def test_labels_come_out(server: Served) -> None:
    note = 'commas, "quotes"\nand lines \u05d0'
    server.post("/decisions", {"position": 5, "label": "cannot_tell", "note": note})
    server.post("/decisions", {"position": 4, "label": "full"})
    status, headers, body = server.get("/labels.csv")
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="labels_ann__b_.csv"'
    rows = list(csv.reader(io.StringIO(body.decode(), newline="")))
    assert rows == [
        ["cell_id", "annotator_id", "label", "notes"],
        ["c0004", "ann <b>", "full", ""],
        ["c0005", "ann <b>", "cannot_tell", note],
    ]


@pytest.mark.slow
def test_two_servers_on_one_file(tmp_path: Path) -> None:
    folder = frame_folder(tmp_path / "frame", 12)
    with served(folder, "ann") as one, served(folder, "ben") as two:
        assert one.send("GET", "/cells/1", two.cookie())[0] == 401
        for position in range(1, 13):
            one.post("/decisions", {"position": position, "label": "full"})
            if position % 2:
                view = two.post("/decisions", {"position": position, "label": "none"})
        assert view["progress"]["done"] == 6
        assert json.loads(one.get("/resume")[2])["progress"]["done"] == 12
        assert one.interrupt()[1].startswith("12 of 12 cells labelled by ann, saved in ")
        assert two.interrupt()[1].startswith("6 of 12 cells labelled by ben, saved in ")


def test_the_shipped_one(tmp_path: Path) -> None:
    page = guideline(tmp_path)
    for label in ("Full", "Partial", "None", "Cannot tell"):
        assert f"<li><strong>{label}</strong>: " in page
    cases = page.split("<h2>Borderline cases</h2>")[1].split("<h3>")[1:]
    assert [case.split("</h3>")[0] for case in cases] == [
        "Several parts",
        "Dates",
        "Conflicts",
        "What follows and what is suggested",
        "Coarse graph relations",
        "Validity that depends on order",
        "Paraphrase",
    ]
    for case in cases:
        assert "<p>Unit: <em>" in case
        assert "<strong>Full</strong>" in case
        assert "<strong>None</strong>" in case


def test_a_frames_own_stays_text(tmp_path: Path) -> None:
    (tmp_path / "guideline.md").write_text(
        "# Ours\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![i](http://evil.example/i)"
        "\n\n<https://evil.example> a\u202eb\n\n[r]: http://evil.example\n"
    )
    page = guideline(tmp_path)
    assert page.startswith("<h1>Ours</h1>")
    for tag in ("<script", "<a ", "<img"):
        assert tag not in page
    assert "a\\u202eb" in page
