"""The labelling page over HTTP: the page, its guideline, static files, and its requests."""

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from markdown_it import MarkdownIt
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.strict_json import first_fault
from memaudit.kernel.package.labels import Label
from memaudit.lab.labels.annotate.labelling import LabellingSession, PageState, RefusedRequest
from memaudit.lab.labels.frame_files import write_labels
from memaudit.lab.labels.sheets import guideline_text
from memaudit.lab.serving import read_json
from memaudit.show.page_kit import environment, style_sheet
from memaudit.show.page_numbers import visible_text

LONGEST_NOTE = 10_000
LONGEST_BODY = 1 << 17


class SentNote(BaseModel):
    """A request about a cell, with its note."""

    model_config = ConfigDict(extra="forbid", strict=True)

    position: int
    note: str = Field("", max_length=LONGEST_NOTE)

    @field_validator("note")
    @classmethod
    def _writable(cls, note: str) -> str:
        """Refuse NUL and lone surrogates, which a text file cannot contain."""
        if "\0" in note or any("\ud800" <= character <= "\udfff" for character in note):
            raise ValueError("a note is text")
        return note


class SentLabel(SentNote):
    """A label given to a cell; of a statement with parts, with the names of the kept ones."""

    label: Label
    kept: list[str] | None = None


class SentDraft(SentNote):
    """A note on a cell, being written or finished."""

    finished: bool


Sent = TypeVar("Sent", bound=SentNote)


async def read_sent(request: Request, model: type[Sent]) -> Sent:
    try:
        text = await read_json(request, LONGEST_BODY)
    except MemAuditError as error:
        raise RefusedRequest(str(error)) from None
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise RefusedRequest(first_fault(error)) from None


def guideline(folder: Path) -> Markup:
    """The guideline as HTML; markup, links and images in it are shown as text."""
    reader = MarkdownIt("commonmark", {"html": False})
    reader.disable(["link", "image", "autolink", "html_inline", "html_block", "reference"])
    return Markup(reader.render(visible_text(guideline_text(folder))))


HERE = Path(__file__).parent


def annotator_app(session: LabellingSession, guideline: Markup) -> Starlette:
    """The application for one labelling session."""
    page = _page(session, guideline)
    style = style_sheet()

    async def decide(request: Request) -> Response:
        sent = await read_sent(request, SentLabel)
        return await _respond(
            lambda: session.decide(sent.position, sent.label, sent.note, sent.kept)
        )

    async def note(request: Request) -> Response:
        sent = await read_sent(request, SentDraft)
        return await _respond(lambda: session.note(sent.position, sent.note, sent.finished))

    async def undo(request: Request) -> Response:  # noqa: ARG001
        return await _respond(session.undo)

    async def resume(request: Request) -> Response:  # noqa: ARG001
        return await _respond(session.resume)

    async def cell(request: Request) -> Response:
        position = _position(request)
        return await _respond(lambda: session.at(position))

    async def unlabelled(request: Request) -> Response:
        position = _position(request)
        return await _respond(lambda: session.unlabelled(position))

    return Starlette(
        routes=[
            Route("/", lambda request: HTMLResponse(page)),  # noqa: ARG005
            Route("/house.css", lambda request: Response(style, media_type="text/css")),  # noqa: ARG005
            Mount("/static", StaticFiles(directory=HERE / "static")),
            Route("/resume", resume),
            Route("/cells/{position}", cell),
            Route("/unlabelled-after/{position}", unlabelled),
            Route("/decisions", decide, methods=["POST"]),
            Route("/notes", note, methods=["POST"]),
            Route("/undo", undo, methods=["POST"]),
            Route("/labels.csv", lambda request: _download(session)),  # noqa: ARG005
        ],
        exception_handlers={RefusedRequest: _refused, MemAuditError: _failed},
    )


def _page(session: LabellingSession, guideline: Markup) -> str:
    template = environment("memaudit.lab.labels.annotate").get_template("page.html")
    return template.render(
        annotator=session.annotator, guideline=guideline, longest_note=LONGEST_NOTE
    )


def _position(request: Request) -> int:
    """The position in an address; no frame needs more than nine digits."""
    text: str = request.path_params["position"]
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise RefusedRequest(f"there is no cell {text[:40]!r}")
    return int(text)


async def _respond(action: Callable[[], PageState]) -> Response:
    """The state of the page after an action. The action runs off the event loop."""
    return JSONResponse(await run_in_threadpool(action))


def _download(session: LabellingSession) -> Response:
    """The label file as the command line writes it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        write_labels(session.labels(), path)
        content = path.read_bytes()
    name = re.sub("[^A-Za-z0-9]", "_", session.annotator)
    headers = {"content-disposition": f'attachment; filename="labels_{name}.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return JSONResponse({"error": str(error)}, 400)


def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return JSONResponse({"error": str(error)}, 503)
