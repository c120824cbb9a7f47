"""New sessions from pasted rows, the demo stream, and the pages of a long list."""

import json
from typing import Any
from zlib import crc32

import httpx
import pytest
from llr_service.http.auth import hash_key
from support.browser import Page
from support.dashboard import made
from support.serving import serving


@pytest.mark.parametrize(
    ("text", "model", "config"),
    [
        ("1,2,0\n2,3,1\n3,4,1", "logistic", {"dim": 2}),
        ("a,b,y\n1,2,0.5\n2,3,1.5\n3,4,7", "linear", {"named": True}),
        ("1;yes\n2;no\n3;yes", "logistic", {"dim": 1, "classes": ["no", "yes"]}),
        (
            "w,kind\n1,cat\n2,dog\n3,cow",
            "softmax",
            {"named": True, "classes": ["cat", "cow", "dog"]},
        ),
        ("1,0\n2,1\n3,2\n4,0\n5,1\n6,2", "softmax", {"dim": 1, "options": {"classes": 3}}),
        ("Rome,3.5\nOslo,4\nLima,1", "linear", {"named": True}),
        ("3.5\n4\n1", "gaussian", {}),
        ('{"x": {"age": 1}, "y": 2.5}\n' * 3, "linear", {"named": True}),
        ("1,2\n2,3", None, "At least 3 rows"),
        ("1,2,3\n2,3\n3,4,5", None, "2 fields, not 3"),
        ("a,y\n1,2\n2,3\n3", None, "1 field, not 2"),
    ],
)
def test_rows_propose_a_model(
    service: httpx.Client, page: Page, text: str, model: str | None, config: Any
) -> None:
    page.open(str(service.base_url))
    found = page.run(
        f"""import("/dashboard/propose.js").then(({{ propose }}) => {{
            try {{ return propose({json.dumps(text)}); }} catch (error) {{ return error.message; }}
        }})"""
    )
    if model is None:
        assert config in found
        return
    assert (found["model"], found["config"]) == (model, config)
    body = {"model": found["model"]} | found["config"]
    name = f"proposed-{crc32(text.encode())}"
    service.put(f"/v1/sessions/{name}", json=body).raise_for_status()
    learnt = service.post(
        f"/v1/sessions/{name}/samples",
        content=found["body"],
        headers={"content-type": "application/json"},
    )
    assert learnt.json()["accepted"] == (6 if "6,2" in text else 3)


def test_pasted_rows_become_a_session_that_has_learnt_them(
    service: httpx.Client, page: Page
) -> None:
    page.open(str(service.base_url))
    page.click("#new")
    page.write("#paste", "area, city, price\n54, Oslo, 310\n71, Rome, 285\n40, Rome, 200.5")
    page.says("dialog", "Proposed: linear. price (the last column) is a number")
    page.write("dialog [data-at='/name']", "houses")
    page.click("dialog .primary")
    page.says("h1", "houses")
    page.says("[data-stat=t]", "3")
    theta = service.get("/v1/sessions/houses").json()["theta"]
    assert set(theta) == {"area", "city=Oslo", "city=Rome"}


def test_a_demo_stream_plays_until_it_is_stopped(page: Page) -> None:
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        page.open(f"http://{address}/")
        page.click("#first-demo")
        page.says(".demo", "samples sent")
        page.until("document.querySelector('[data-chart=recent] .lines path[d]')")
        page.until("Number(document.querySelector('[data-stat=t]').textContent) >= 40")
        page.click("#stop-demo")
        page.until("document.querySelector('.demo').hidden")
        [row] = http.get("/v1/sessions").json()["sessions"]
        assert row["name"].startswith("demo-")
        assert row["t"] >= 40


def test_idle_sessions_are_found_and_metrics_are_sorted(page: Page) -> None:
    names = "[...document.querySelectorAll('tr[data-name]')].map((row) => row.dataset.name).join()"
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        made(http, "at-rest")
        for name, noise in (("good", 0.1), ("poor", 5.0)):
            made(http, name)
            y = [noise * (-1) ** k for k in range(40)]
            body = {"x": [[1.0, 0.5]] * 40, "y": y}
            http.post(f"/v1/sessions/{name}/samples", json=body).raise_for_status()
        page.open(f"http://{address}/")
        page.says(".list", "the last sample came at most 60 s ago")
        page.click("[data-column=metric] .sort")
        page.until(f"{names} === 'poor,good,at-rest'")
        page.click("[data-column=metric] .sort")
        page.until(f"{names} === 'good,poor,at-rest'")
        page.choose("[aria-label='Filter by activity']", "idle")
        page.until(f"{names} === 'at-rest'")
        page.says(".totals", "store ")


def test_a_long_list_is_read_once_for_many_polls(service: httpx.Client, page: Page) -> None:
    page.open(str(service.base_url))
    asked, first, again, limited = page.run(
        """import("/dashboard/pagination.js").then(async ({ Pages }) => {
            let asked = 0;
            const page = (from) => Array.from({ length: 1000 }, (_, k) =>
                ({ name: `s${String(from + k).padStart(6, "0")}`, t: from + k, model: "linear" }));
            const get = async (path) => {
                asked += 1;
                const from = Number(new URLSearchParams(path.split("?")[1]).get("cursor"));
                return { sessions: page(from), next: String(from + 1000) };
            };
            const pages = new Pages({ get });
            const query = { filter: "", activity: "", order: { by: "t", down: true }, size: 2 };
            const first = await pages.find({ ...query, cursor: "" });
            const again = await pages.find({ ...query, cursor: first.next });
            const names = ({ sessions }) => sessions.map(({ t }) => t);
            return [asked, names(first), names(again), first.limited];
        })"""
    )
    assert (asked, limited) == (20, 20_000)
    assert (first, again) == ([19_999, 19_998], [19_997, 19_996])


def test_the_system_page_names_keys_without_their_secrets(page: Page) -> None:
    keys = f"boss:admin:{hash_key('boss')},acme:write:acme-:{hash_key('acme')}"
    with serving("memory:", api_keys=keys) as address:
        page.open(f"http://{address}/#/system")
        page.write("dialog input", "boss")
        page.click("dialog .primary")
        said = page.says(".system", "boss (in use)")
        assert "write, sessions whose names begin with acme-" in said
        assert hash_key("acme")[:12] not in said


def test_a_comparison_shows_metrics_baselines_and_drift(page: Page, service: httpx.Client) -> None:
    made(service, "steady", 600, algorithm="sg", eta0=0.1)
    storm = {"x": [[1.0, 0.5]] * 60, "y": [90.0, -90.0] * 30}
    service.post("/v1/sessions/steady/samples", json=storm).raise_for_status()
    made(service, "calm", 100)
    page.open(f"{service.base_url}#/compare/steady,calm")
    page.until("document.querySelectorAll('[data-chart=metric] .lines .series[d]').length === 4")
    page.until("document.querySelectorAll('[data-chart=metric] .drift').length === 1")
    page.says("[data-chart=metric] .legend", "calm: baseline")
    page.says(".standing", "RMSE")
