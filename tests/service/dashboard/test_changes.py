"""What is done to a session on its page: forks, what-ifs, shadows, late labels, its end."""

import httpx
import pytest
from support.browser import Page
from support.dashboard import learn, made


def test_a_shadow_is_compared_and_promoted_and_drift_is_marked(
    service: httpx.Client, page: Page
) -> None:
    shadows = {"rival": {"algorithm": "auto"}, "wild": {"algorithm": "sg", "eta0": 1e9}}
    url = made(service, "contest", 600, algorithm="sg", eta0=0.1, shadows=shadows)
    page.open(f"{url}/shadows")
    row = page.says(".shadows tbody tr:nth-child(2)", "rival").split()
    state = service.get("/v1/sessions/contest").json()
    recent = state["shadows"]["rival"]["loss"]["recent"]
    assert row[1] == "auto"
    assert float(row[2]) == pytest.approx(recent, rel=1e-3)
    page.says(".shadows tbody tr:nth-child(3)", "wild (diverged)")
    page.click("[data-tab=overview]")
    page.says("[data-chart='loss'] .legend", "rival")
    assert "wild" not in page.text("[data-chart='loss'] .legend")
    storm = {"x": [[1.0, 0.5]] * 60, "y": [90.0, -90.0] * 30}
    service.post("/v1/sessions/contest/samples", json=storm).raise_for_status()
    page.says(".sentence", "Drift once, last ")
    page.until("document.querySelectorAll('[data-chart=\"loss\"] .drift').length === 1")
    page.click("[data-tab=shadows]")
    page.click("[data-promote='rival']")
    page.click("dialog .primary")
    page.says(".shadows tbody tr:nth-child(1)", "rival (champion)")
    page.says(".about", "linear · auto")
    page.says(".shadows tbody tr:nth-child(2)", "sg")
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


def test_a_shadow_is_added_with_the_form(service: httpx.Client, page: Page) -> None:
    page.open(f"{made(service, 'lonely', 12, algorithm='sg/ag')}/shadows")
    page.says("[data-panel=shadows]", "No shadows.")
    page.click("#shadow")
    page.says("dialog", "Add a shadow to lonely")
    page.click("dialog .primary")
    page.says("dialog", "A shadow needs a name")
    page.write("dialog [data-at='/shadow']", "no name")
    page.click("dialog .primary")
    page.says("dialog .wrong", "match")
    page.write("dialog [data-at='/shadow']", "rival")
    page.choose("dialog [data-at='/algorithm']", "auto")
    page.until("document.querySelector('dialog [data-at=\"/eta0\"]').offsetParent === null")
    page.choose("dialog [data-at='/algorithm']", "sg")
    page.write("dialog [data-at='/eta0']", "0")
    page.click("dialog .primary")
    page.says("dialog", "above 0")
    page.write("dialog [data-at='/eta0']", "0.125")
    page.click("dialog .primary")
    assert page.says(".shadows tbody tr:nth-child(2)", "rival").split()[1] == "sg"
    learn(service, "lonely", 30)
    page.click("[data-tab=overview]")
    page.says("[data-chart='loss'] .legend", "rival")
    shadows = service.get("/v1/sessions/lonely").json()["config"]["shadows"]
    assert shadows == {"rival": {"algorithm": "sg", "eta0": 0.125, "options": {}}}


def test_a_shadow_that_cannot_be_is_refused_with_the_reason(
    service: httpx.Client, page: Page
) -> None:
    page.open(f"{made(service, 'unborn')}/shadows")
    page.click("#shadow")
    page.write("dialog [data-at='/shadow']", "rival")
    page.click("dialog .primary")
    page.says("dialog", "dim is unknown before the first sample")
    page.press("Escape")
    page.until("!document.querySelector('dialog')")
    assert service.get("/v1/sessions/unborn").json()["shadows"] == {}


def test_a_change_of_the_team_by_somebody_else_is_seen(service: httpx.Client, page: Page) -> None:
    page.open(f"{made(service, 'shared', 12)}/shadows")
    page.says(".connection", "Live")
    path = "/v1/sessions/shared/shadows/theirs"
    service.put(path, json={"algorithm": "sg"}).raise_for_status()
    page.says(".shadows tbody tr:nth-child(2)", "theirs")
    service.delete(path).raise_for_status()
    page.until("document.querySelector('.shadows').hidden")
