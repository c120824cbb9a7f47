"""The status of a connector: its Prometheus metrics."""

import httpx
import pytest
from llr_cli.options import BadData
from llr_connect.status import Status, serve_metrics


def test_counters_and_lag_are_served() -> None:
    status = Status("demo", 1.0)
    status.learnt, status.repeated, status.lag = 7, 2, lambda: 5
    port = serve_metrics(status, "127.0.0.1:0")
    shown = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    assert "llr_connect_learnt_total 7.0" in shown
    assert "llr_connect_repeated_total 2.0" in shown
    assert "llr_connect_lag 5.0" in shown
    assert "llr_connect_away 0.0" in shown


def test_an_unknown_lag_is_left_out() -> None:
    port = serve_metrics(Status("demo", 1.0), "0")
    assert "llr_connect_lag" not in httpx.get(f"http://127.0.0.1:{port}/metrics").text


@pytest.mark.parametrize("address", ["here", "127.0.0.1:99999", "127.0.0.1:"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(BadData, match="--metrics"):
        serve_metrics(Status("demo", 1.0), address)
