"""The dashboard in a real Chromium, against a real service: what a person sees and does."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser import Browser, Page, chromium
from serving import serving

from service.keys import hash_key

MOVED = "document.querySelector('[data-chart=%s] .lines path')?.getAttribute('d')"
HOSTILE = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'
SECRETS = {"read": "llr_reader", "admin": "llr_boss"}
KEYS = ",".join(f"{role}:{role}:{hash_key(key)}" for role, key in SECRETS.items())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must not have complained of anything: errors, or violations of the policy."""
    with browser.page() as opened:
        yield opened
        assert opened.complaints == []


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        yield http


def made(http: httpx.Client, name: str, samples: int = 0, **config: Any) -> str:
    """A linear session of two features that has learnt some samples; returns its page."""
    http.put(f"/v1/sessions/{name}", json={"model": "linear"} | config).raise_for_status()
    if samples:
        learn(http, name, samples)
    return f"{http.base_url}#/s/{name}"


def learn(http: httpx.Client, name: str, samples: int) -> None:
    x = [[1 + k % 3, (k % 5) / 2] for k in range(samples)]
    body = {"x": x, "y": [a - b + 0.1 * (k % 2) for k, (a, b) in enumerate(x)]}
    http.post(f"/v1/sessions/{name}/samples", json=body).raise_for_status()


def test_a_fresh_service_says_what_to_do_first_and_leads_to_a_session_that_learns(
    page: Page,
) -> None:
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        page.open(f"http://{address}/")
        assert "Nothing learns here yet" in page.text(".welcome")
        page.click("#first")
        page.write("[data-at='/name']", "demo")
        page.choose("[data-at='/model']", "softmax")
        page.click("dialog .primary")
        page.says("dialog", "This one is needed")
        page.write("[data-at='/options/classes']", "1")
        page.click("dialog .primary")
        page.says("dialog", "2 or more")
        page.write("[data-at='/options/classes']", "3")
        page.click("dialog .primary")
        page.says("h1", "demo")
        assert page.run("location.hash") == "#/s/demo"
        assert http.get("/v1/sessions/demo").json()["config"]["options"] == {"classes": 3}
        page.says("[data-chart=loss]", "Nothing learnt yet")
        page.write(".samples textarea", "x1, x2, class\n0.5, -1.2, 2\n0.1, 0.3, 0\n")
        page.click(".samples [type=submit]")
        page.says(".answer", "Learnt 2 samples")
        assert http.get("/v1/sessions/demo").json()["t"] == 2
        page.until("document.querySelector('[data-stat=t]').textContent === '2'")


def test_numbers_and_charts_move_as_samples_arrive(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "moving", 50))
    page.says(".connection", "Live")
    drawn = page.until(MOVED % "eta")
    learn(service, "moving", 100)
    page.until("document.querySelector('[data-stat=t]').textContent === '150'")
    for chart in ("eta", "regret", "loss", "theta"):
        page.until(f"({MOVED % chart}) && ({MOVED % chart}) !== {json.dumps(drawn)}")
    state = service.get("/v1/sessions/moving").json()
    shown = page.text("[data-stat=eta]")
    assert float(shown.replace("−", "-")) == pytest.approx(state["eta"], rel=1e-3)
    page.until("document.querySelector('[data-stat=rate]').textContent > '0'")


def test_pausing_holds_still_and_resuming_catches_up(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "paused", 5))
    page.says(".connection", "Live")
    page.click("#pause")
    page.says(".connection", "Paused")
    learn(service, "paused", 7)
    assert page.text("[data-stat=t]") == "5"
    page.click("#pause")
    page.until("document.querySelector('[data-stat=t]').textContent === '12'")


def test_values_are_read_with_the_pointer_and_axes_are_switched(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "hovered", 40, algorithm="sg", eta0=0.01))
    page.until(MOVED % "eta")
    x, y = page.run(
        """(() => {
            const frame = document.querySelector("[data-chart=eta] .chart-frame");
            const box = frame.getBoundingClientRect();
            return [box.right - 20, box.y + 50];
        })()"""
    )
    page.mouse("mouseMoved", x, y)
    read = page.text("[data-chart=eta] .readout")
    assert read.split("\n")[0::3] == ["t 40", "0.01 (log η −4.605)"]
    page.mouse("mouseMoved", 5, 5)
    page.until("document.querySelector('[data-chart=eta] .readout').hidden")
    kind = "document.querySelector('[data-chart=%s] .plot').dataset.scale"
    assert [page.run(kind % "eta"), page.run(kind % "loss")] == ["log", "linear"]
    page.click("[data-chart=eta] .toggle")
    page.click("[data-chart=theta] .toggle")
    assert [page.run(kind % "eta"), page.run(kind % "theta")] == ["linear", "symlog"]


def test_the_list_is_live_filtered_and_paged_and_leads_to_a_comparison(page: Page) -> None:
    names = "[...document.querySelectorAll('tr[data-name]')].map((row) => row.dataset.name).join()"
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        for k in range(30):
            made(http, f"many-{k:02}")
        made(http, "zebra", 20)
        made(http, "zoo", 30, algorithm="svrg/ag")
        page.open(f"http://{address}/")
        page.says("h1 .total", "32")
        page.until(f"{names} === {json.dumps(','.join(f'many-{k:02}' for k in range(25)))}")
        page.click(".pager button:last-child")
        page.until(f"{names}.endsWith('zebra,zoo')")
        page.click(".pager button:first-child")
        page.until(f"{names}.startsWith('many-00')")
        page.write("[type=search]", "Z")
        page.until(f"{names} === 'zebra,zoo'")
        row = page.text("tr[data-name=zoo]")
        assert re.search(r"linear\s+svrg/ag\s+30\s", row)
        page.until("document.querySelector('tr[data-name=zoo] .spark .line').hasAttribute('d')")
        page.click("tr[data-name=zebra] input")
        page.click("tr[data-name=zoo] input")
        learn(http, "zoo", 12)
        page.until("document.querySelector('tr[data-name=zoo]').dataset.t === '42'")
        assert page.run("document.querySelector('tr[data-name=zoo] input').checked")
        page.click(".bar a")
        page.until("document.querySelectorAll('[data-chart=regret] .lines path[d]').length === 2")
        assert page.run("location.hash") == "#/compare/zebra,zoo"
        assert page.text("[data-chart=loss] .legend").split() == ["zebra", "zoo"]
        page.says(".standing", "42")
        page.write(".adder input", "nobody")
        page.click(".adder button")
        page.says(".compare", "There is no session nobody")


def test_what_is_wrong_with_samples_is_shown_where_it_is_and_nothing_is_learnt(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "careful", dim=2))
    refused = {
        "1, 2, 3\n4, oops, 6": ("line 2, field 2", "“oops” is not a finite number"),
        "1, 2, 3\n\n4, 5": ("line 3", "2"),
        '{"x": [1, 2], "y": "3"}': ("/y", "must be a number, not a string"),
        '{"x": [1, 2], "y": 3}\n{"x": [1, 2], "y": true}': ("line 2 /y", "must be a number"),
        '{"x": [1, 2],': ("line 1", "Not JSON"),
        " ": ("nothing to send", ""),
        HOSTILE: ("line 1", "is not a finite number"),
    }
    page.says(".samples .hint", "2 features")
    for text, words in refused.items():
        page.write(".samples textarea", text)
        page.run("document.querySelector('.told').replaceChildren()")
        page.click(".samples [type=submit]")
        for word in words:
            page.says(".told .problem", word)
        assert service.get("/v1/sessions/careful").json()["t"] == 0, text
    assert page.run("document.title") == "careful · LLR"


def test_hostile_names_are_text(service: httpx.Client, page: Page) -> None:
    address = str(service.base_url)
    for place in (f"#/s/{HOSTILE}", f"#/compare/{HOSTILE},b", "#/s/%E0%A4%A", "#/s/..%2f..%2fetc"):
        page.open("about:blank#")
        page.open(f"{address}{place}")
        page.says("main", "no session" if "s/" in place[:4] else "Compare")
        assert page.run("document.querySelectorAll('main img, main script').length") == 0
    page.run(
        f"""import("/dashboard/legend.js").then(({{ Legend }}) => {{
            const legend = new Legend();
            legend.show([{json.dumps(HOSTILE)}, "b"]);
            document.querySelector("main").append(legend.element);
        }})"""
    )
    assert "onerror" in page.text("main > .legend")
    assert page.run("document.querySelectorAll('main img, main script').length") == 0
    assert "owned" not in page.run("document.title")


def test_a_key_is_asked_for_kept_for_the_tab_and_forgotten(page: Page) -> None:
    with serving("memory:", api_keys=KEYS) as address:
        boss = {"authorization": f"Bearer {SECRETS['admin']}"}
        with httpx.Client(base_url=f"http://{address}", headers=boss) as http:
            made(http, "guarded", 10)
            page.open(f"http://{address}/#/s/guarded")
            page.says("dialog", "This service asks for an API key")
            page.write("dialog input", "wrong")
            page.click("dialog .primary")
            page.says("dialog", "That key is not known here")
            page.write("dialog input", SECRETS["read"])
            page.click("dialog .primary")
            page.says("[data-stat=t]", "10")
            learn(http, "guarded", 5)
            page.says("[data-stat=t]", "15")
            assert SECRETS["read"] not in page.text(".snippets")
            assert "$LLR_KEY" in page.text(".snippets")
            page.write(".samples textarea", "1, 2, 3")
            page.click(".samples [type=submit]")
            page.says(".told", "Press Forget key")
            page.click("#delete")
            page.click("dialog .danger")
            page.says("dialog", "admin")
            page.press("Escape")
            page.open("about:blank#")
            page.open(f"http://{address}/#/s/guarded")
            page.says("[data-stat=t]", "15")
            page.click("#forget")
            page.says("dialog", "This service asks for an API key")
            page.press("Escape")
            page.says(".connection", "Key needed")
            assert page.run("sessionStorage.length") == 0


def test_a_tenant_sees_its_own_sessions_and_is_told_how_to_name_another(page: Page) -> None:
    entries = f"boss:admin:{hash_key('boss')},acme:write:acme-:{hash_key('acme')}"
    with serving("memory:", api_keys=entries) as address:
        boss = {"authorization": "Bearer boss"}
        with httpx.Client(base_url=f"http://{address}", headers=boss) as http:
            for name in ("acme-1", "rival-1"):
                made(http, name, 10)
        page.open(f"http://{address}/")
        page.write("dialog input", "acme")
        page.click("dialog .primary")
        page.says("table", "acme-1")
        assert "rival" not in page.text("main")
        page.click("#new")
        page.write("dialog input", "mine")
        page.click("dialog .primary")
        page.says("dialog", "begin with acme-")
        page.write("dialog input", "acme-2")
        page.click("dialog .primary")
        page.says("[data-stat=t]", "0")


def test_a_restart_of_the_service_is_seen_and_survived(page: Page, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'llr.db'}"
    with serving(store) as address, httpx.Client(base_url=f"http://{address}") as http:
        page.open(made(http, "durable", 10))
        page.says("[data-stat=t]", "10")
        page.says(".connection", "Live")
    since = page.says(".connection", "Disconnected since")
    assert re.search(r"Disconnected since \d\d:\d\d:\d\d", since)
    page.write(".samples textarea", "1, 2, 3")
    page.click(".samples [type=submit]")
    page.says(".told", "may or may not have been learnt")
    with serving(store, port=address.rpartition(":")[2]) as again:
        assert again == address
        page.says(".connection", "Live")
        page.says("[data-stat=t]", "10")
        page.click(".samples [type=submit]")
        page.says("[data-stat=t]", "11")
        page.says(".answer", "Learnt 1 sample")


def test_a_shadow_is_compared_and_promoted_and_drift_is_marked(
    service: httpx.Client, page: Page
) -> None:
    shadows = {"rival": {"algorithm": "auto"}, "wild": {"algorithm": "sg", "eta0": 1e9}}
    url = made(service, "contest", 600, algorithm="sg", eta0=0.1, shadows=shadows)
    page.open(url)
    assert page.says(".team tbody tr:nth-child(2)", "rival").split()[1] == "auto"
    page.says(".team tbody tr:nth-child(3)", "wild (diverged)")
    page.says("[data-chart='loss'] .legend", "rival")
    assert "wild" not in page.text("[data-chart='loss'] .legend")
    storm = {"x": [[1.0, 0.5]] * 60, "y": [90.0, -90.0] * 30}
    service.post("/v1/sessions/contest/samples", json=storm).raise_for_status()
    page.says("[data-stat='drift']", "The loss was found to rise 1 time")
    page.until("document.querySelectorAll('[data-chart=\"loss\"] .drift').length === 1")
    page.click("[data-promote='rival']")
    page.click("dialog .primary")
    page.says(".team tbody tr:nth-child(1)", "rival (champion)")
    page.says(".about", "linear · auto")
    page.says(".team tbody tr:nth-child(2)", "sg")
    state = service.get("/v1/sessions/contest").json()
    assert (state["champion"], state["former"]) == ("rival", "sg")


def test_a_session_is_forked_and_the_copy_is_shown(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "origin", 12))
    page.says("[data-stat=t]", "12")
    page.click("#fork")
    page.says("dialog", "The same to the last bit")
    page.click("dialog .primary")
    page.says("dialog", "The copy needs a name")
    page.write("dialog [data-at='/name']", "origin")
    page.click("dialog .primary")
    page.says("dialog", "choose another name")
    page.write("dialog [data-at='/name']", "rival")
    page.choose("dialog [data-at='/algorithm']", "sg/ag")
    page.says("dialog", "It restarts from theta")
    page.write("dialog [data-at='/eta0']", "0.125")
    page.click("dialog .primary")
    page.says("h1", "rival")
    page.says("[data-stat=t]", "0")
    config = service.get("/v1/sessions/rival").json()["config"]
    assert (config["algorithm"], config["eta0"]) == ("sg/ag", 0.125)
    page.open(made(service, "origin"))
    page.says("[data-stat=t]", "12")
    page.click("#fork")
    page.write("dialog [data-at='/name']", "twin")
    page.click("dialog .primary")
    page.says("h1", "twin")
    page.says("[data-stat=t]", "12")


def test_a_what_if_is_forked_from_the_page_and_laid_over_its_source(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "whole", 200, algorithm="sg/ag", retain=True))
    page.says("[data-stat=retained]", "Keeps all its samples")
    page.click("#fork")
    page.write("dialog [data-at='/name']", "what-if")
    page.choose("dialog [data-at='/algorithm']", "sg")
    page.write("dialog [data-at='/eta0']", "0.01")
    page.click("dialog [data-at='/relearn']")
    page.says("dialog", "learns all samples anew in this way: what if?")
    page.click("dialog .primary")
    page.says("h1", "what-if")
    page.says("[data-stat=relearning]", "200 samples of whole, learnt anew")
    page.says("[data-stat=t]", "200")
    page.click("[data-stat=relearning] a")
    page.until("document.querySelectorAll('[data-chart=loss] .lines path[d]').length === 2")
    assert page.run("location.hash") == "#/compare/whole,what-if"


def test_a_what_if_that_stopped_says_why_and_one_that_cannot_be_is_not_offered(
    service: httpx.Client, page: Page
) -> None:
    made(service, "steep", 20, algorithm="sg", retain=True)
    fork = {"name": "steeper", "eta0": 1e200, "relearn": True}
    service.post("/v1/sessions/steep/fork", json=fork).raise_for_status()
    page.open(f"{service.base_url}#/s/steeper")
    page.says("[data-stat=relearning]", "stopped after 0 of 20 samples")
    page.says(".badge", "stopped")
    page.open(made(service, "forgetful", 20))
    page.says("[data-stat=t]", "20")
    page.click("#fork")
    page.says("dialog", "Only of a session that keeps its samples")
    assert page.run("document.querySelector(\"[data-at='/relearn']\").disabled") is True


def test_late_labels_are_counted_on_the_page(service: httpx.Client, page: Page) -> None:
    address = made(service, "patient", dim=2)
    rows = {"x": [[1, 2], [2, 1], [0, 1]], "ids": ["a", "b", "c"]}
    service.post("/v1/sessions/patient/predict", json=rows).raise_for_status()
    service.post("/v1/sessions/patient/labels", json={"id": "b", "y": 1}).raise_for_status()
    page.open(address)
    page.says("[data-stat=labels]", "Late labels: 2 awaited, 1 learnt, 0 expired.")


def test_deleting_asks_first_and_a_session_that_is_gone_says_so(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "doomed", 3))
    page.says("[data-stat=t]", "3")
    page.click("#delete")
    page.says("dialog", "goes for good")
    page.press("Escape")
    page.until("!document.querySelector('dialog')")
    assert service.get("/v1/sessions/doomed").status_code == 200
    page.click("#delete")
    page.click("dialog .danger")
    page.until("location.hash === '#/'")
    assert service.get("/v1/sessions/doomed").status_code == 404
    page.open(made(service, "fleeting", 3))
    page.says("[data-stat=t]", "3")
    service.delete("/v1/sessions/fleeting")
    page.says("main", "There is no session of this name (any more)")


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    focused = "document.activeElement"
    with serving("memory:") as address:
        page.open(f"http://{address}/")
        page.text(".welcome")
        page.press("Tab")
        assert page.run(f"{focused}.id") == "skip"
        page.press("Enter")
        assert page.run(f"{focused}.id") == "page"
        page.press("Tab")
        assert page.run(f"{focused}.id") == "first"
        assert page.run(f"getComputedStyle({focused}).outlineStyle") == "solid"
        page.press("Enter")
        page.until("document.querySelector('dialog')?.contains(document.activeElement)")
        page.press("Escape")
        page.until("!document.querySelector('dialog')")
        assert page.run(f"{focused}.id") == "first"
        page.press("Enter")
        page.until("document.querySelector('dialog')?.contains(document.activeElement)")
        page.type("typed")
        page.press("Enter")
        page.says("h1", "typed")
        page.until(f"{focused}.tagName === 'H1'")
        page.tab_to("textarea")
        page.type("1, 2, 3\n2, 1, 0\n0, 1, 1")
        page.tab_to(".samples [type=submit]")
        page.press("Enter")
        page.says(".answer", "Learnt 3 samples")
        page.until(f"({MOVED % 'loss'})?.split('L').length === 3")
        page.tab_to("[data-chart=loss] .chart-frame", back=True)
        page.press("ArrowLeft")
        page.press("ArrowLeft")
        assert page.text("[data-chart=loss] .readout").startswith("t 1\n")
        page.press("Escape")
        assert page.run("document.querySelector('[data-chart=loss] .readout').hidden")


def test_the_snippets_of_a_session_run(service: httpx.Client, page: Page) -> None:
    configs: dict[str, dict[str, Any]] = {"copied": {"dim": 3}, "mean": {"model": "gaussian"}}
    for name, config in configs.items():
        page.open(made(service, name, **config))
        page.says(".snippets", name)
        script = page.text(".snippets code").replace("curl -N", "curl --max-time 0.5 -N")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)  # noqa: S603, S607
        assert '"accepted":1' in done.stdout
        assert '"predictions":' in done.stdout
        assert "event: state" in done.stdout
        page.says("[data-stat=t]", "1")
        page.click("[data-tab=python]")
        script = page.text(".snippets code")
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)  # noqa: S603
        page.says("[data-stat=t]", "2")


def test_numbers_are_short_and_what_is_unknown_is_a_dash(service: httpx.Client, page: Page) -> None:
    page.open(str(service.base_url))
    written = page.run(
        """import("/dashboard/format.js").then(({ number, count, power }) => [
            ...[null, undefined, NaN, 0, 0.5, 0.00001234567, -1234.5, 1e58].map((v) => number(v)),
            count(1234567), count(null), power(-12)])"""
    )
    assert written[:3] == ["–"] * 3
    assert written[3:8] == ["0", "0.5", "1.235e−5", "−1,235", "1e58"]
    assert written[8:] == ["1,234,567", "–", "10⁻¹²"]


def test_the_largest_coordinates_are_named_whatever_the_shape_of_theta(
    service: httpx.Client, page: Page
) -> None:
    page.open(str(service.base_url))
    shapes = [[0.1, -3, 2], [[0.1, 5], [-4, 0]], {"age": 1, "<b>": -2, "city=Bern": 0.5}, None]
    named = page.run(
        f"""import("/dashboard/theta.js").then(({{ coordinates, largest }}) =>
            {json.dumps(shapes)}.map((theta) => {{
                const all = coordinates(theta);
                return largest(theta, 2).map((one) => all[one]?.label ?? one);
            }}))"""
    )
    assert named[:2] == [["θ[1]", "θ[2]"], ["θ[0, 1]", "θ[1, 0]"]]
    assert named[2:] == [["<b>", "age", "city=Bern"], []]


@pytest.mark.parametrize(
    "values", [[1.098, 1.0995], [0, 1e300], [-1e65, 3, 1e65], [5, 5], [1e-9, 1]]
)
def test_the_marks_of_an_axis_lie_on_it_and_differ(
    service: httpx.Client, page: Page, values: list[float]
) -> None:
    page.open(str(service.base_url))
    for kind in ("linear", "log"):
        marks = page.run(
            f"""import("/dashboard/scale.js").then(({{ scale }}) => {{
                const axis = scale("{kind}", {json.dumps(values)});
                return axis.marks(5).map((one) => [axis.at(one.value), one.label]);
            }})"""
        )
        places = [at for at, _ in marks]
        assert len(marks) >= 2
        assert places == sorted(places)
        assert all(0 <= at <= 1 for at in places)
        assert len({label for _, label in marks}) == len(marks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_follows_the_colour_scheme(
    service: httpx.Client, page: Page, scheme: str
) -> None:
    page.resize(360, 740)
    page.prefer(prefers_color_scheme=scheme)
    name = "a-name-that-is-long-enough-to-need-several-lines-on-a-narrow-screen-of-a-phone"
    made(service, name, 20)
    for place in ("", f"#/s/{name}", f"#/compare/{name},narrow"):
        page.open("about:blank#")
        page.open(f"{service.base_url}{place}")
        page.says("main", name)
        page.until("document.querySelector('.line[d], .lines path[d]')")
        assert page.run("document.documentElement.scrollWidth") == 360
        colour = page.run("getComputedStyle(document.body).backgroundColor")
        brightness = max(int(part) for part in re.findall(r"\d+", colour))
        assert (brightness < 64) == (scheme == "dark")


def test_a_page_says_in_words_whether_the_step_size_has_arrived(
    page: Page, service: httpx.Client
) -> None:
    page.open(made(service, "far-off", 20, algorithm="sg/ag", eta0=1e-9))
    page.says("[data-stat=advice]", "η is starting: too early to say")
    learn(service, "far-off", 100)
    page.says("[data-stat=advice]", "η is travelling: eta still grows")


def test_a_page_says_that_its_session_diverged_while_it_is_looked_at(
    page: Page, service: httpx.Client
) -> None:
    page.open(made(service, "wild", 1, algorithm="sg", eta0=1e6))
    page.says("[data-stat=advice]", "η is fixed")
    far = {"x": [[1e100, 1e100]] * 5, "y": [1.0] * 5}
    assert service.post("/v1/sessions/wild/samples", json=far).status_code == 409
    page.says(".about", "diverged: the last batch was refused")


def test_named_features_are_shown_by_name_the_largest_first(
    page: Page, service: httpx.Client
) -> None:
    url = made(service, "named")
    page.open(url)
    page.until("document.querySelector('.names').hidden")
    x = {f"n{k}": k / 10 for k in range(30)} | {HOSTILE: -9}
    body = [{"x": x, "y": k % 2} for k in range(5)]
    service.post("/v1/sessions/named/samples", json=body).raise_for_status()
    page.says(".names", "31 of 100,000 names")
    theta = service.get("/v1/sessions/named").json()["theta"]
    rows = page.run(
        "[...document.querySelectorAll('.names tbody th')].map((one) => one.textContent)"
    )
    assert rows == sorted(theta, key=lambda name: -abs(theta[name]))[:20]
    assert "11 names more" in page.text(".names")
    assert "31 named features" in page.text(".about")
    page.says("[data-chart=theta]", rows[0])
    page.until(MOVED % "theta")
    page.click(".samples .quiet")
    page.click(".samples .primary")
    page.says(".samples", "20 samples")
    page.says(".about", "named features")
    assert '"city":"Rome"' in page.text(".snippets")
    for width in (1400, 360):
        page.resize(width, 900)
        assert page.run("document.documentElement.scrollWidth <= innerWidth")


def test_a_session_for_named_features_is_made_with_the_form(
    page: Page, service: httpx.Client
) -> None:
    page.open(f"{service.base_url}")
    page.click("#new")
    page.write("[data-at='/name']", "by-form")
    page.click("dialog details summary")
    page.click("[data-at='/named']")
    page.write("[data-at='/max_features']", "100001")
    page.click("dialog .primary")
    page.says("dialog", "At most 100000 names here")
    page.write("[data-at='/max_features']", "50")
    page.click("dialog .primary")
    page.says("h1", "by-form")
    config = service.get("/v1/sessions/by-form").json()["config"]
    assert (config["named"], config["max_features"], config["hash_bits"]) == (True, 50, None)
