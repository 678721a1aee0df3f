"""Firefox and WebKitGTK over their own WebDriver interfaces: no driver to download, no library.

Firefox needs Debian's `firefox-esr`; WebKit needs `webkit2gtk-driver` and `xvfb`.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Protocol

PATIENCE = 60
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowRight": "\ue014"}

LISTEN = """
  window.heard = [];
  for (const name of ['error', 'unhandledrejection', 'securitypolicyviolation'])
    addEventListener(name, event => window.heard.push(
      `${name}: ${event.message ?? event.reason ?? event.violatedDirective}`));
"""
"""What a page does after it was loaded. What happens before is known from the console."""


class Browser(Protocol):
    """What differs between the two."""

    def call(self, command: str, **parameters: Any) -> Any: ...
    def said(self, visited: list[str]) -> list[str]: ...


class Window:
    """A window and what its pages did, with the checks that the walks in Chromium use."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.outside: set[str] = set()
        self._base = self._token = ""
        self._visited: list[str] = []
        self._said: list[str] = []

    def go(self, address: str, base: str = "") -> None:
        """Open an address; requests must stay below `base`."""
        self._base = base or address
        page, _, token = address.partition("?token=")
        self._token = token or self._token
        query = f"?token={self._token}" if self._token else ""
        self._visited.append(f"{page.partition('#')[0]}{query}")
        self._browser.call("url", url=address)
        self.run(LISTEN)

    def reload(self) -> None:
        self.look()
        self._browser.call("refresh")

    def run(self, script: str, *values: Any) -> Any:
        return self._browser.call("execute/sync", script=script, args=list(values))

    def press(self, *keys: str) -> None:
        steps = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        self._browser.call("actions", actions=[{"type": "key", "id": "keys", "actions": steps}])

    def click(self, place: str) -> None:
        found = self._browser.call("element", using="css selector", value=place)
        self._browser.call("click", id=next(iter(found.values())))

    def until(self, script: str, *values: Any) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while not (value := self.run(f"return {script}", *values)):
            assert time.monotonic() < end, (script, values, self.text("body")[:1000])
            time.sleep(0.05)
        return value

    def sees(self, place: str, text: str) -> None:
        self.until(
            "(document.querySelector(arguments[0])?.textContent ?? '').trim()"
            ".replace(/\\s+/g, ' ').includes(arguments[1])",
            place,
            text,
        )

    def arrives(self, address: str) -> None:
        """The page is there and its scripts listen."""
        self.until(
            "document.readyState === 'complete' && new RegExp(arguments[0]).test(location.href)",
            address,
        )

    def text(self, place: str) -> str:
        return str(
            self.run("return document.querySelector(arguments[0])?.textContent ?? ''", place)
        )

    def texts(self, place: str) -> list[str]:
        """Of the visible elements."""
        return list(
            self.run(
                "return [...document.querySelectorAll(arguments[0])].filter(one => "
                "one.getClientRects().length).map(one => one.textContent.trim())",
                place,
            )
        )

    def count(self, place: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", place))

    def fits(self) -> bool:
        """Whether nothing makes the page scroll sideways."""
        root = "document.documentElement"
        return bool(self.run(f"return {root}.scrollWidth <= {root}.clientWidth"))

    def look(self) -> None:
        """Note what the page asked for elsewhere; before it is left."""
        names = self.run("return performance.getEntriesByType('resource').map(one => one.name)")
        self._said += self.run("return window.heard ?? []")
        self.outside |= {name for name in names if not name.startswith((self._base, "data:"))}

    def quiet(self) -> None:
        """No error of a script, nothing that a policy blocked, no request to elsewhere."""
        self.look()
        said = [*self._said, *self._browser.said(self._visited), *sorted(self.outside)]
        assert not said, said


class Firefox:
    """Firefox's Marionette: WebDriver's commands over a socket, and the console of the browser."""

    NAMES: ClassVar = {
        "url": "Navigate",
        "refresh": "Refresh",
        "execute/sync": "ExecuteScript",
        "actions": "PerformActions",
        "element": "FindElement",
        "click": "ElementClick",
        "session": "NewSession",
    }
    CONSOLE = """
      return Services.console.getMessageArray()
        .filter(one => one instanceof Ci.nsIScriptError)
        .map(one => [one.sourceName, one.category, one.errorMessage])"""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._file = link.makefile("rb")
        self._number = 0
        self._read()
        self.call("session", capabilities={})

    def call(self, command: str, **parameters: Any) -> Any:
        return self._ask(f"WebDriver:{self.NAMES[command]}", parameters)

    def said(self, visited: list[str]) -> list[str]:
        bases = tuple({re.split("[?#]", one)[0].rpartition("/")[0] for one in visited})
        self._ask("Marionette:SetContext", {"value": "chrome"})
        rows = self.call("execute/sync", script=self.CONSOLE, args=[])
        self._ask("Marionette:SetContext", {"value": "content"})
        # Not every version knows trusted types; saying so is no violation.
        known = [row for row in rows if "couldNotProcessUnknownDirective" not in row[1]]
        return [": ".join(row) for row in known if row[0].startswith(bases) or "CSP" in row[1]]

    def _ask(self, name: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        data = json.dumps([0, self._number, name, parameters]).encode()
        self._link.sendall(b"%d:%b" % (len(data), data))
        _, _, error, result = self._read()
        assert error is None, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def _read(self) -> Any:
        size = b""
        while (byte := self._file.read(1)) != b":":
            assert byte, "Firefox has gone"
            size += byte
        return json.loads(self._file.read(int(size)))


class WebKit:
    """WebKitWebDriver. What its browser writes to the console is seen by a second one."""

    def __init__(self, port: int, home: Path, environment: dict[str, str]) -> None:
        self._base, self._home, self._environment = f"http://127.0.0.1:{port}", home, environment
        made = self._post("/session", {"capabilities": {}})
        self._base += f"/session/{made['sessionId']}"

    def call(self, command: str, **parameters: Any) -> Any:
        path = f"element/{parameters['id']}/click" if command == "click" else command
        return self._post(f"/{path}", parameters)

    def said(self, visited: list[str]) -> list[str]:
        """A browser under automation has no console, so all pages are opened once more without."""
        (browser,) = Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser")
        last, log = self._home / "last.html", self._home / "console"
        last.write_text("<script>setTimeout(() => console.log('that is all'), 3000)</script>")
        command = [
            str(browser),
            "--enable-write-console-messages-to-stdout=true",
            *visited,
            last.as_uri(),
        ]
        with started(command, self._home, log, self._environment):
            end = time.monotonic() + PATIENCE
            while "that is all" not in (text := log.read_text(errors="replace")):
                assert time.monotonic() < end, text
                time.sleep(0.1)
        return [line for line in text.splitlines() if re.search(r"CONSOLE .*(ERROR|WARN)", line)]

    def _post(self, path: str, data: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{self._base}{path}", json.dumps(data).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def connected(port: int) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        assert time.monotonic() < end, "the browser does not answer"
        time.sleep(0.1)


@contextmanager
def started(
    command: list[str], home: Path, log: Path, more: Mapping[str, str] | None = None
) -> Iterator[None]:
    """A program with a home of its own, ended afterwards."""
    environment = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), **(more or {})}
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def firefox(home: Path) -> Iterator[Window]:
    port = free_port()
    (home / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
    command = [
        "firefox-esr",
        "--headless",
        "--marionette",
        "-remote-allow-system-access",
        "--no-remote",
        "--profile",
        str(home),
    ]
    with started(command, home, home / "log"), closing(connected(port)) as link:
        yield Window(Firefox(link))


@contextmanager
def webkit(home: Path) -> Iterator[Window]:
    port = free_port()
    reading, writing = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as answer:
            shown = {"DISPLAY": f":{answer.readline().strip()}", "GDK_BACKEND": "x11"}
        with started(["WebKitWebDriver", f"--port={port}"], home, home / "log", shown):
            connected(port).close()
            yield Window(WebKit(port, home, shown))
    finally:
        screen.terminate()
        screen.wait()


BROWSERS: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "firefox": (firefox, ("firefox-esr",)),
    "webkit": (webkit, ("WebKitWebDriver", "Xvfb")),
}


def missing(name: str) -> list[str]:
    return [program for program in BROWSERS[name][1] if not shutil.which(program)]
