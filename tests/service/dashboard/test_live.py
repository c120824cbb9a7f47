"""The dashboard in a real Chromium, against a real service: what a person sees and does."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from llr_service.http.auth import hash_key
from support.browser import Page
from support.dashboard import MOVED, learn, made
from support.serving import serving

from scripts.system_programs import need

HOSTILE = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'
SECRETS = {"read": "llr_reader", "admin": "llr_boss"}
KEYS = ",".join(f"{role}:{role}:{hash_key(key)}" for role, key in SECRETS.items())


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
        page.until("document.querySelector('[data-tab=samples][aria-current=page]')")
        page.write(".samples textarea", "x1, x2, class\n0.5, -1.2, 2\n0.1, 0.3, 0\n")
        page.click(".samples [type=submit]")
        page.says(".answer", "Learnt 2 samples")
        assert http.get("/v1/sessions/demo").json()["t"] == 2
        page.until("document.querySelector('[data-stat=t]').textContent === '2'")
        page.click("[data-tab=overview]")
        page.until("document.querySelector('[data-chart=recent] .lines path[d]')")


def test_pausing_holds_still_and_resuming_catches_up(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "paused", 5))
    page.says(".connection", "Live")
    page.click("#pause")
    page.says(".connection", "Paused")
    learn(service, "paused", 7)
    assert page.text("[data-stat=t]") == "5"
    page.click("#pause")
    page.until("document.querySelector('[data-stat=t]').textContent === '12'")


def test_bands_show_what_happened_between_points_and_go_on_with_live_ones(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "ranged", 40))
    page.says(".connection", "Live")
    bands = "(document.querySelector('[data-chart=%s] path.band-1')?.getAttribute('d') ?? '')"
    parts = [f"{bands % kind}.split('Z').length - 1" for kind in ("eta", "theta")]
    for part in parts:
        page.until(f"{part} === 40")
    learn(service, "ranged", 1)
    page.until("document.querySelector('[data-stat=t]').textContent === '41'")
    for part in parts:
        page.until(f"{part} === 41")


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
        assert re.search(r"linear\s+svrg/ag\s+\S+\s+learning\s+\d+ s ago\s+30\s", row)
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
    page.open(f"{made(service, 'careful', dim=2)}/samples")
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
        page.run("document.querySelector('.notice').replaceChildren()")
        page.click(".samples [type=submit]")
        for word in words:
            page.says(".notice .problem", word)
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
            legend.show([{{ name: {json.dumps(HOSTILE)} }}, {{ name: "b" }}]);
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
            page.click("[data-tab=code]")
            assert SECRETS["read"] not in page.text(".snippets")
            assert "$LLR_KEY" in page.text(".snippets")
            page.click("[data-tab=samples]")
            page.write(".samples textarea", "1, 2, 3")
            page.click(".samples [type=submit]")
            page.says(".notice", "Press Forget key")
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
        page.write("dialog [data-at='/name']", "mine")
        page.click("dialog .primary")
        page.says("dialog", "begin with acme-")
        page.write("dialog [data-at='/name']", "acme-2")
        page.click("dialog .primary")
        page.says("[data-stat=t]", "0")


def test_a_restart_of_the_service_is_seen_and_survived(page: Page, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'llr.db'}"
    with serving(store) as address, httpx.Client(base_url=f"http://{address}") as http:
        page.open(f"{made(http, 'durable', 10)}/samples")
        page.says("[data-stat=t]", "10")
        page.says(".connection", "Live")
    since = page.says(".connection", "Disconnected since")
    assert re.search(r"Disconnected since \d\d:\d\d:\d\d", since)
    page.write(".samples textarea", "1, 2, 3")
    page.click(".samples [type=submit]")
    page.says(".notice", "may or may not have been learnt")
    with serving(store, port=address.rpartition(":")[2]) as again:
        assert again == address
        page.says(".connection", "Live")
        page.says("[data-stat=t]", "10")
        page.click(".samples [type=submit]")
        page.says("[data-stat=t]", "11")
        page.says(".answer", "Learnt 1 sample")


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
        page.tab_to("dialog [data-at='/name']")
        page.type("typed")
        page.press("Enter")
        page.says("h1", "typed")
        page.until(f"{focused}.tagName === 'H1'")
        page.tab_to("textarea")
        page.type("1, 2, 3\n2, 1, 0\n0, 1, 1")
        page.tab_to(".samples [type=submit]")
        page.press("Enter")
        page.says(".answer", "Learnt 3 samples")
        page.tab_to("[data-tab=overview]", back=True)
        page.press("Enter")
        page.until(f"({MOVED % 'loss'})?.split('L').length === 3")
        assert page.run(f"{focused}.dataset.tab") == "overview"
        page.tab_to("[data-chart=loss] .chart-frame")
        page.press("ArrowLeft")
        page.press("ArrowLeft")
        assert page.text("[data-chart=loss] .readout").startswith("t 1\n")
        page.press("Escape")
        assert page.run("document.querySelector('[data-chart=loss] .readout').hidden")


def test_the_snippets_of_a_session_run(service: httpx.Client, page: Page) -> None:
    need("curl")
    configs: dict[str, dict[str, Any]] = {"copied": {"dim": 3}, "mean": {"model": "gaussian"}}
    for name, config in configs.items():
        page.open(f"{made(service, name, **config)}/code")
        page.says(".snippets", name)
        script = page.text(".snippets code").replace("curl -N", "curl --max-time 0.5 -N")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)  # noqa: S603, S607
        assert '"accepted":1' in done.stdout
        assert '"predictions":' in done.stdout
        assert "event: state" in done.stdout
        page.says("[data-stat=t]", "1")
        page.click("[data-language=python]")
        script = page.text(".snippets code")
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)  # noqa: S603
        page.says("[data-stat=t]", "2")


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
        tables = "[...document.querySelectorAll('.card.table')].filter((one) => one.clientWidth)"
        assert page.run(f"{tables}.every((one) => one.scrollWidth <= one.clientWidth)")
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
