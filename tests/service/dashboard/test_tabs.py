"""The tabs of a session's page: their addresses, predictions, made-up samples, the config."""

import httpx
import pytest
from support.browser import Page
from support.dashboard import learn, made


def test_each_tab_has_an_address_and_back_leads_to_the_one_before(
    service: httpx.Client, page: Page
) -> None:
    url = made(service, "tabbed", 20, algorithm="sg", eta0=0.25)
    page.open(f"{url}/config")
    assert page.says(".config", "eta0").split("eta0")[1].split()[0] == "0.25"
    page.click("[data-tab=predict]")
    page.until("location.hash === '#/s/tabbed/predict'")
    page.says(".predict", "x[1]")
    page.run("history.back()")
    page.says(".config", "eta0")
    assert page.run("document.querySelectorAll('.panel:not([hidden])').length") == 1
    page.open("about:blank#")
    page.open(f"{url}/nothing-of-the-kind")
    page.says("main", "no session of this name")


def test_a_form_says_why_it_has_no_fields_and_takes_what_is_pasted(
    service: httpx.Client, page: Page
) -> None:
    page.open(f"{made(service, 'newborn')}/predict")
    page.says(".predict", "It has learnt no sample yet")
    made(service, "wide", dim=60)
    rows = {"x": [[float(k == j) for j in range(60)] for k in range(60)], "y": [1.0] * 60}
    service.post("/v1/sessions/wide/samples", json=rows).raise_for_status()
    page.open(f"{service.base_url}#/s/wide/predict")
    page.says(".predict", "60 features are too many for a form")
    page.write(".predict textarea", "1, two")
    page.click(".predict .primary")
    page.says(".predict .problem", "“two” is not a number")
    page.write(".predict textarea", "1" + ", 0" * 59)
    page.click(".predict .primary")
    page.says(".predict .answer", "x[0]")
    x = [1.0] + [0.0] * 59
    expected = service.post("/v1/sessions/wide/predict", json={"x": x}).json()["predictions"]
    shown = page.text("[data-stat=prediction]").replace("−", "-")
    assert float(shown) == pytest.approx(expected, rel=1e-3)


def test_contributions_add_up_beyond_a_thousand_names(service: httpx.Client, page: Page) -> None:
    url = made(service, "many-names", named=True)
    body = [{"x": {f"n{k}": 1.0 + k / 500, f"n{k + 1}": 1.0}, "y": 3.0} for k in range(1100)]
    service.post("/v1/sessions/many-names/samples", json=body).raise_for_status()
    page.open(f"{url}/predict")
    page.says(".predict", "40 largest of its features")
    learn_one = {"x": {"n0": 1.0}, "y": 1.0}  # the event that follows has the largest alone
    service.post("/v1/sessions/many-names/samples", json=learn_one).raise_for_status()
    page.until("document.querySelector('[data-stat=t]').textContent === '1,101'")
    theta = service.get("/v1/sessions/many-names").json()["theta"]
    least = sorted(theta, key=lambda name: abs(theta[name]))[:50]
    page.run("document.querySelector('.predict .card-foot .quiet').click()")
    x = dict.fromkeys(least, 1)
    page.write(".predict textarea", str(x).replace("'", '"'))
    page.click(".predict .primary")
    page.says(".predict .answer", "Score")
    answer = service.post("/v1/sessions/many-names/predict", json={"x": x}).json()
    score = page.text(".predict .answer > .hint").partition(": ")[2].partition(". The")[0]
    assert float(score.rstrip(".").replace("−", "-")) == pytest.approx(
        answer["predictions"], rel=1e-3
    )


def test_an_example_is_not_taught_when_others_were_faster(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "overtaken", dim=2))
    page.click("#example")
    page.until("document.querySelector('.samples textarea').value.length > 100")
    learn(service, "overtaken", 7)
    page.click(".samples .primary")
    page.says("dialog", "would change what it learnt")
    page.press("Escape")
    assert service.get("/v1/sessions/overtaken").json()["t"] == 7
    page.write(".samples textarea", "1, 2, 3")
    page.click(".samples .primary")
    page.says(".samples", "Learnt 1 sample")


def test_samples_with_a_heading_are_learnt_by_name(service: httpx.Client, page: Page) -> None:
    page.open(made(service, "headed", named=True))
    page.write(".samples textarea", "age, city, y\n30, Rome, 1\n, Oslo, 2")
    page.click(".samples .primary")
    page.says(".samples", "Learnt 2 samples")
    theta = service.get("/v1/sessions/headed").json()["theta"]
    assert set(theta) == {"age", "city=Rome", "city=Oslo"}


def test_a_click_that_the_page_moved_away_from_is_repeated(
    service: httpx.Client, page: Page
) -> None:
    page.open(str(service.base_url))
    page.text("h1")
    page.run(
        """(() => {
            const button = document.createElement("button");
            button.id = "moving";
            button.addEventListener("click", () => (window.clicks = (window.clicks ?? 0) + 1));
            document.querySelector("main").prepend(button);
            button.addEventListener("pointerdown", () => {
                button.style.marginTop = "300px";
            }, { once: true });
        })()"""
    )
    page.click("#moving")
    assert page.run("window.clicks") == 1
