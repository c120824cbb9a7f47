"""A real Chromium without a window, spoken to over a pipe: no port, no driver, no dependency.

The words are those of the Chrome DevTools Protocol. A page clicks and types as a person does, by
mouse and key events, waits for conditions inside the page, and notes all that it complains of.
"""

import base64
import contextlib
import itertools
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.system_programs import need

PATIENCE = 20.0
CLICKS = 5
KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), " ": (32, " ")} | {
    name: (code, "") for code, name in enumerate(("ArrowLeft", "ArrowUp", "ArrowRight"), start=37)
}
UNTIL = """new Promise((done, fail) => {
    const started = performance.now();
    const look = () => {
        let found = null;
        try { found = (%s); } catch (error) { found = null; }
        if (found) done(found);
        else if (performance.now() - started > %d) fail(new Error("never: " + %s));
        else setTimeout(look, 20);
    };
    look();
})"""
VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
    console.error("csp", event.violatedDirective, event.blockedURI, event.sourceFile))"""


class PageError(AssertionError):
    """What was asked of a page failed in it."""


class Browser:
    """A running Chromium: commands go down one pipe, answers and events come up another."""

    def __init__(self, read: int, write: int) -> None:
        self._up, self._down = os.fdopen(read, "rb"), os.fdopen(write, "wb")
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The result of a command."""
        number = next(self._numbers)
        answer = self._answers[number] = queue.Queue()
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._down.write(json.dumps(message).encode() + b"\0")
        self._down.flush()
        found = answer.get(timeout=PATIENCE + 10)
        if "error" in found:
            raise PageError(f"{method}: {found['error']['message']}")
        result: dict[str, Any] = found["result"]
        return result

    @contextlib.contextmanager
    def page(self, width: int = 1400, height: int = 900) -> Iterator["Page"]:
        """A page with a memory of its own."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        made = self.send("Target.createTarget", url="about:blank", browserContextId=context)
        joined = self.send("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        page = Page(self, joined["sessionId"])
        self._pages[joined["sessionId"]] = page
        page.prepare(width, height)
        try:
            yield page
        finally:
            self.send("Target.disposeBrowserContext", browserContextId=context)

    def close(self) -> None:
        """Ask it to end."""
        with contextlib.suppress(OSError, PageError, queue.Empty):
            self.send("Browser.close")
        self._down.close()

    def _listen(self) -> None:
        buffer = b""
        while part := self._up.read1(1 << 16):
            *messages, buffer = (buffer + part).split(b"\0")
            for raw in messages:
                message = json.loads(raw)
                if "id" in message:
                    self._answers.pop(message["id"]).put(message)
                elif page := self._pages.get(message.get("sessionId", "")):
                    page.heard(message["method"], message["params"])
        self._up.close()


class Page:
    """One page, and what it complained of so far in `complaints`."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.complaints: list[str] = []

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """A command to this page."""
        return self._browser.send(method, self._session, **params)

    def prepare(self, width: int, height: int) -> None:
        """Listen to it and give it a size."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", source=VIOLATIONS)
        self.resize(width, height)

    def heard(self, event: str, params: dict[str, Any]) -> None:
        """Note a complaint. What the network refuses is the page's business, to be shown by it."""
        if event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(json.dumps([one.get("value") for one in params["args"]]))
        elif event == "Log.entryAdded":
            entry = params["entry"]
            if entry["source"] != "network" and entry["level"] in ("error", "warning"):
                self.complaints.append(entry["text"])

    def resize(self, width: int, height: int) -> None:
        """The size of the window."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, **features: str) -> None:
        """What its user prefers, such as `prefers_color_scheme="dark"`."""
        wanted = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.send("Emulation.setEmulatedMedia", features=wanted)

    def open(self, url: str) -> None:
        """Go somewhere."""
        self.send("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, expression: str) -> Any:
        """The value of an expression, awaited."""
        found = self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            told = found["exceptionDetails"]
            raise PageError(told.get("exception", {}).get("description") or told["text"])
        return found["result"].get("value")

    def until(self, condition: str) -> Any:
        """Wait until an expression is true; returns its value."""
        return self.run(UNTIL % (condition, PATIENCE * 1000, json.dumps(condition)))

    def text(self, selector: str) -> str:
        """What an element says, once it can be seen."""
        return self.says(selector, "").strip()

    def says(self, selector: str, words: str) -> str:
        """Wait until an element says some words; returns all it says."""
        found: str = self.until(
            f"""(() => {{
                const found = document.querySelector({json.dumps(selector)});
                const words = found?.getClientRects().length ? found.innerText : "";
                return words.includes({json.dumps(words)}) && words;
            }})()"""
        )
        return found

    def click(self, selector: str) -> None:
        """Click in the middle of an element, once it can be seen and has come to rest.

        A page that moves before the press makes it miss; one that moves between press and release
        has no click at all. Either is repeated, because nothing was clicked.
        """
        for _ in range(CLICKS):
            at = self.until(
                f"""(() => {{
                    const found = document.querySelector({json.dumps(selector)});
                    if (!found || found.disabled) return null;
                    found.scrollIntoView({{block: "center", behavior: "instant"}});
                    const box = found.getBoundingClientRect();
                    const x = box.x + box.width / 2, y = box.y + box.height / 2;
                    const top = document.elementFromPoint(x, y);
                    const was = found.lastSeen;
                    found.lastSeen = `${{x}} ${{y}}`;
                    if (was !== found.lastSeen) return null;
                    if (!box.width || !(found.contains(top) || top?.contains(found))) return null;
                    window.missed = true;
                    document.addEventListener("click", ({{target}}) => {{
                        window.missed = target !== top && !found.contains(target);
                    }}, {{capture: true, once: true}});
                    return [x, y];
                }})()"""
            )
            self.mouse("mouseMoved", *at)
            self.mouse("mousePressed", *at, button="left", clickCount=1)
            self.mouse("mouseReleased", *at, button="left", clickCount=1)
            if not self.run("window.missed === true"):  # another page has no such variable
                return
        raise PageError(f"{CLICKS} clicks missed {selector}")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def write(self, selector: str, text: str) -> None:
        """Replace what stands in a field."""
        self.click(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.type(text)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.send("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Choose from a list."""
        self.until(
            f"""(() => {{
                const list = document.querySelector({json.dumps(selector)});
                list.value = {json.dumps(value)};
                list.dispatchEvent(new Event("input", {{bubbles: true}}));
                list.dispatchEvent(new Event("change", {{bubbles: true}}));
                return list.value === {json.dumps(value)};
            }})()"""
        )

    def press(self, key: str, shift: bool = False) -> None:
        """Press and release a key."""
        code, text = KEYS[key]
        event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
        modifiers = 8 if shift else 0
        down = "keyDown" if text else "rawKeyDown"
        typed = {"text": text} if text else {}
        self.send("Input.dispatchKeyEvent", type=down, modifiers=modifiers, **event, **typed)
        self.send("Input.dispatchKeyEvent", type="keyUp", modifiers=modifiers, **event)

    def tab_to(self, selector: str, back: bool = False) -> None:
        """Press Tab until something has the focus."""
        for _ in range(50):
            if self.run(f"document.activeElement.matches({json.dumps(selector)})"):
                return
            self.press("Tab", shift=back)
        raise PageError(f"Tab does not lead to {selector}")

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """A picture of the page."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A running Chromium that keeps its profile in a folder; it is ended at the end."""
    program = need("chromium")
    flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"]
    flags += ["--no-first-run", "--disable-dev-shm-usage", "--disable-extensions"]
    flags += ["--disable-background-networking", "--disable-component-update", "--mute-audio"]
    flags += ["--force-color-profile=srgb", f"--user-data-dir={folder}"]
    theirs, down = os.pipe()
    up, back = os.pipe()
    plug = f'exec "$@" 3<&{theirs} 4>&{back}'
    command = ["bash", "-c", plug, "bash", program, *flags]
    with subprocess.Popen(  # noqa: S603
        command, pass_fds=(theirs, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        os.close(back)
        browser = Browser(up, down)
        try:
            yield browser
        finally:
            browser.close()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
