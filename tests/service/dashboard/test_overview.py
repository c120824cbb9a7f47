"""What a person sees at a glance, and how predictions and charts leave the page."""

import json
import re

import httpx
import pytest
from support.browser import Page
from support.dashboard import MOVED, learn, made
from support.serving import serving

NAMES = "[...document.querySelectorAll('tr[data-name]')].map((row) => row.dataset.name).join()"


def test_a_session_begins_with_a_sentence_and_the_recent_loss(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "spoken"))
    page.says(".sentence", "Predicts a number from features. It has learnt no sample yet.")
    learn(service, "spoken", 300)
    said = page.says(".sentence", "Predicts a number from 2 features. Recent RMSE")
    assert "Always predicting the mean of the labels would give" in said
    page.says(".about", "created ")
    page.click("[data-tab=overview]")
    page.until(MOVED % "recent")
    page.says("[data-chart=metric] .legend", "baseline")
    page.click("[data-chart=recent] .why-mark")
    assert "last 200 samples" in page.text("[data-chart=recent] .why-note")


def test_a_session_of_classes_tells_its_accuracy(service: httpx.Client, page: Page) -> None:
    url = made(service, "yes-or-no", model="logistic")
    body = {"x": [[k % 7 - 3.0, 1.0] for k in range(99)], "y": [int(k % 7 > 3) for k in range(99)]}
    service.post("/v1/sessions/yes-or-no/samples", json=body).raise_for_status()
    page.open(url)
    page.says(".sentence", "Recent accuracy")
    page.says("[data-chart=metric] h2", "Recent accuracy")
    page.says("[data-stat=metric]", "%")
    metrics = service.get("/v1/sessions/yes-or-no").json()["metrics"]
    shown = page.says("[data-metric=auc]", "AUC").split()
    each = [metrics["auc"][k] for k in ("recent", "overall")]
    each += [metrics["baseline"]["auc"][k] for k in ("recent", "overall")]
    assert [float(one) for one in shown[-4:]] == pytest.approx(each, abs=2e-3)
    assert "MAE" not in page.text(".metrics")
    page.says("[data-metric=coverage]", "should be near 90 %")


def test_a_prediction_is_made_from_the_features_and_explained(
    service: httpx.Client, page: Page
) -> None:
    page.open(f"{made(service, 'asked', 300)}/predict")
    page.write("[data-at='/x/x[0]']", "2")
    page.write("[data-at='/x/x[1]']", "much")
    page.click(".predict .primary")
    page.says(".predict .wrong:not(:empty)", "Not a number")
    page.write("[data-at='/x/x[1]']", "0.5")
    page.click(".predict .primary")
    page.says(".predict .answer", "90 % of labels are between")
    row = {"x": [2, 0.5]}
    expected = service.post("/v1/sessions/asked/predict", json=row).json()["predictions"]
    shown = page.text("[data-stat=prediction]").replace("−", "-")
    assert float(shown) == pytest.approx(expected, rel=1e-3)
    score = page.text(".predict .answer > .hint").rpartition(": ")[2].rstrip(".")
    assert float(score.replace("−", "-")) == pytest.approx(expected, rel=1e-3)
    assert service.get("/v1/sessions/asked").json()["t"] == 300
    page.resize(360, 740)
    edges = """[...document.querySelectorAll('.predict table, .predict td, .predict th')]
        .map((one) => one.getBoundingClientRect().right)"""
    assert max(page.run(edges)) <= page.run(
        "document.querySelector('.predict .answer').getBoundingClientRect().right"
    )


def test_named_features_have_fields_by_name_with_their_known_values(
    service: httpx.Client, page: Page
) -> None:
    url = made(service, "people", model="logistic")
    cities = ("Rome", "Oslo")
    body = [{"x": {"age": k % 9 - 4, "city": cities[k % 2]}, "y": k % 2} for k in range(60)]
    service.post("/v1/sessions/people/samples", json=body).raise_for_status()
    page.open(f"{url}/predict")
    page.says(".predict .inputs", "city")
    options = "[...document.querySelectorAll('.predict option')].map((o) => o.value).sort().join()"
    assert page.run(options) == "Oslo,Rome"
    page.write("[data-at='/x/city']", "Oslo")
    page.click(".predict .primary")
    page.says(".predict .answer", "for class 1")
    page.says(".predict tbody", "city=Oslo")
    assert "age" not in page.text(".predict tbody")


def test_the_crosshair_stands_in_all_charts_and_a_drag_zooms_all(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "zoomed", 200))
    for chart in ("recent", "metric"):
        page.until(MOVED % chart)
    left, right, y = page.run(
        """(() => {
            const frame = document.querySelector("[data-chart=recent] .chart-frame");
            frame.scrollIntoView({ block: "center" });
            const box = frame.getBoundingClientRect();
            return [box.left + box.width / 2, box.right - 30, box.y + 60];
        })()"""
    )
    page.mouse("mouseMoved", left, y)
    page.until("document.querySelectorAll('.readout:not([hidden])').length >= 4")
    before = page.run(MOVED % "metric")
    page.mouse("mousePressed", left, y, button="left", clickCount=1)
    page.mouse("mouseMoved", right, y, button="left")
    page.mouse("mouseReleased", right, y, button="left", clickCount=1)
    page.until(f"({MOVED % 'metric'}) !== {json.dumps(before)}")
    first = "document.querySelector('[data-chart=metric] .grid text:not(.axis):not([dy])')"
    page.until(f"Number({first}.textContent) > 0")
    page.run(
        "[...document.querySelectorAll('button')]"
        ".find((one) => one.textContent === 'Show all of t').click()"
    )
    page.until(f"({MOVED % 'metric'}) === {json.dumps(before)}")


def test_charts_are_drawn_over_t_or_over_time(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "timed", 50))
    learn(service, "timed", 50)
    page.until(MOVED % "recent")
    axis = "document.querySelector('[data-chart=recent] .axis:last-of-type').textContent === '%s'"
    page.click("[data-over=time]")
    page.until(axis % "time")
    page.until(MOVED % "recent")
    page.run("document.querySelector('[data-chart=recent] .chart-frame').focus()")
    page.press("ArrowLeft")
    assert re.search(r"\d \w{3}, \d\d:\d\d:\d\d", page.text("[data-chart=recent] .readout-t"))
    page.click("[data-over=t]")
    page.until(axis % "t, samples learnt")
    assert page.run("document.querySelector('[data-chart=recent] .readout').hidden")


def test_marks_of_time_are_round_and_differ(service: httpx.Client, page: Page) -> None:
    page.open(str(service.base_url))
    for span in (2_000, 100_000, 7_200_000, 86_400_000 * 40, 86_400_000 * 4000):
        marks = page.run(
            f"""import("/dashboard/timeaxis.js").then(({{ timeMarks }}) =>
                timeMarks(1.79e12, 1.79e12 + {span}, 6).map((one) => [one.value, one.label]))"""
        )
        assert 2 <= len(marks) <= 12
        assert all(1.79e12 <= value <= 1.79e12 + span for value, _ in marks)
        if span < 86_400_000 * 365:
            assert len({label for _, label in marks}) == len(marks)


def test_a_chart_is_saved_as_numbers_and_as_a_picture(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "saved", 20))
    page.until(MOVED % "recent")
    csv = page.run(
        """import("/dashboard/export.js").then(({ toCsv }) =>
            toCsv([{ name: 'a,"b"', t: [0, 1], values: [null, 0.5],
                clock: { t: [0, 1], time: [NaN, 2000] } }]))"""
    )
    assert csv == 'series,t,time,value\n"a,""b""",0,,\n"a,""b""",1,1970-01-01T00:00:02.000Z,0.5\n'
    size, kind = page.run(
        """import("/dashboard/export.js").then(async ({ toPng }) => {
            const made = await toPng(document.querySelector("[data-chart=recent] .plot"));
            return [made.size, made.type];
        })"""
    )
    assert kind == "image/png"
    assert size > 2000


def test_the_list_is_sorted_over_all_pages_and_shows_the_recent_loss(page: Page) -> None:
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        for k in range(27):
            made(http, f"s-{k:02}")
        learn(http, "s-26", 30)
        learn(http, "s-03", 20)
        page.open(f"http://{address}/")
        page.until(f"{NAMES}.startsWith('s-00,s-01')")
        page.click("[data-column=t] button")
        page.until(f"{NAMES}.startsWith('s-26,s-03,')")
        assert page.run("document.querySelector('[data-column=t]').ariaSort") == "descending"
        page.says("tr[data-name='s-26'] [data-cell=metric]", "RMSE")
        recent = http.get("/v1/sessions/s-26").json()["loss"]["recent"]
        shown = page.text("tr[data-name='s-26'] [data-cell=loss]")
        assert float(shown.replace("−", "-")) == pytest.approx(recent, rel=1e-3)
        page.click("[data-column=t] button")
        page.until(f"!{NAMES}.includes('s-26')")
        page.resize(360, 740)
        page.choose(".sorting", "loss")
        page.until(f"{NAMES}.startsWith('s-03,s-26,')")


def test_a_page_tells_how_the_service_stands(page: Page) -> None:
    with serving("memory:") as address, httpx.Client(base_url=f"http://{address}") as http:
        made(http, "one", 30)
        page.open(f"http://{address}/#/system")
        said = page.says(".system", "Sessions in memory")
        lines = dict(line.split("\t") for line in said.splitlines() if "\t" in line)
        assert lines["Health"] == "ready"
        assert lines["Access"].startswith("no keys")
        assert (lines["Store"], lines["Sessions"]) == ("memory", "1")
        assert lines["Version"] == http.get("/version").json()["version"]
        assert lines["Samples learnt"] == "30"
        page.click(".back")
        page.says("tr[data-name=one]", "linear")


def test_times_are_read_as_a_person_says_them(service: httpx.Client, page: Page) -> None:
    page.open(str(service.base_url))
    said = page.run(
        """import("/dashboard/format.js").then(({ ago }) => {
            const now = Date.parse("2026-01-02T00:00:00Z");
            const before = (seconds) => new Date(now - 1000 * seconds).toISOString();
            return [...[0, 12, 720, 7300, 200000].map((s) => ago(before(s), now)), ago(null)];
        })"""
    )
    assert said == ["0 s ago", "12 s ago", "12 min ago", "2 h ago", "2 d ago", "–"]
