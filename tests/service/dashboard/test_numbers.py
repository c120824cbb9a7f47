"""What the page of a session shows of its numbers: charts, axes, theta, names."""

import json

import httpx
import pytest
from support.browser import Page
from support.dashboard import MOVED, learn, made

INSERT = "#example"
HOSTILE = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'


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


def test_values_are_read_with_the_pointer_and_axes_are_switched(
    service: httpx.Client, page: Page
) -> None:
    page.open(made(service, "hovered", 40, algorithm="sg", eta0=0.01))
    page.until(MOVED % "eta")
    x, y = page.run(
        """(() => {
            const frame = document.querySelector("[data-chart=eta] .chart-frame");
            frame.scrollIntoView({ block: "center" });
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


def test_named_features_are_shown_by_name_the_largest_first(
    page: Page, service: httpx.Client
) -> None:
    url = made(service, "named")
    page.open(f"{url}/parameters")
    page.says(".parameters", "No parameters yet")
    x = {f"n{k}": k / 10 for k in range(30)} | {HOSTILE: -9}
    body = [{"x": x, "y": k % 2} for k in range(5)]
    service.post("/v1/sessions/named/samples", json=body).raise_for_status()
    page.says(".parameters", "31 of 100,000 names")
    theta = service.get("/v1/sessions/named").json()["theta"]
    rows = page.run(
        "[...document.querySelectorAll('.parameters tbody th')].map((one) => one.textContent)"
    )
    intercept, *rows = rows
    assert intercept == "intercept"
    assert rows == sorted(theta, key=lambda name: -abs(theta[name]))[:20]
    assert "11 more, with smaller θ" in page.text(".parameters")
    page.write(".parameters [type=search]", "n29")
    page.until("document.querySelectorAll('.parameters tbody tr').length === 2")
    page.click("[data-tab=overview]")
    assert "31 named features" in page.text(".about")
    page.says("[data-chart=theta]", rows[0])
    page.until(MOVED % "theta")
    page.click("[data-tab=samples]")
    page.says(INSERT, "Try an example in a fork")
    page.click(INSERT)
    page.says("dialog", "would change what it learnt from 5 samples")
    page.click("dialog .primary")
    page.says("h1", "named-try-")
    page.click("[data-tab=samples]")
    page.click(INSERT)
    page.click(".samples .primary")
    page.says(".samples", "20 samples")
    page.says(".about", "named features")
    assert service.get("/v1/sessions/named").json()["t"] == 5
    page.click("[data-tab=code]")
    assert '"city":"Rome"' in page.text(".snippets")
    for width in (1400, 360):
        page.resize(width, 900)
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
