from concurrent.futures import ThreadPoolExecutor

from llr_service.metrics import UNMATCHED, Metrics
from prometheus_client.parser import text_string_to_metric_families

ROUTE = "/v1/sessions/{name}/samples"


def values(metrics: Metrics) -> dict[str, float]:
    """Every sample by its name and labels, as a scraper reads them."""
    text, _ = metrics.render()
    return {
        ",".join([sample.name, *(f"{k}={v}" for k, v in sorted(sample.labels.items()))]): (
            sample.value
        )
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def test_requests_are_counted_by_route_method_and_class_of_status() -> None:
    metrics = Metrics()
    for status in (200, 201, 404, 200):
        metrics.request(ROUTE, "POST", status, 0.002)
    seen = values(metrics)
    assert seen[f"llr_requests_total,method=POST,route={ROUTE},status=2xx"] == 3
    assert seen[f"llr_requests_total,method=POST,route={ROUTE},status=4xx"] == 1
    assert seen[f"llr_request_seconds_count,route={ROUTE}"] == 4
    assert seen[f"llr_request_seconds_bucket,le=0.001,route={ROUTE}"] == 0
    assert seen[f"llr_request_seconds_bucket,le=0.0025,route={ROUTE}"] == 4


def test_made_up_methods_share_one_series() -> None:
    metrics = Metrics()
    for number in range(1000):
        metrics.request(UNMATCHED, f"M{number}", 405, 0.0)
    counted = {k: v for k, v in values(metrics).items() if k.startswith("llr_requests_total")}
    assert counted == {f"llr_requests_total,method=OTHER,route={UNMATCHED},status=4xx": 1000}


def test_everything_else_is_counted_where_it_belongs() -> None:
    metrics = Metrics()
    metrics.learnt(20, 0.00005)
    metrics.learnt(1, 0.000002)
    metrics.duplicate(7)
    metrics.diverged()
    metrics.committed(3, 0.004)
    metrics.store_failed()
    metrics.drifted(2)
    metrics.stored(7, 8192)
    metrics.loaded(5, 4096)
    metrics.loaded(4, 1024)
    metrics.evicted()
    metrics.evicted(2)
    metrics.stream_opened()
    metrics.stream_opened()
    metrics.stream_closed()
    expected = {
        "llr_samples_total": 21,
        "llr_step_seconds_count": 2,
        "llr_duplicates_total": 7,
        "llr_divergences_total": 1,
        "llr_commit_seconds_count": 1,
        "llr_commit_group_size_sum": 3,
        "llr_store_errors_total": 1,
        "llr_sessions_loaded": 4,
        "llr_sessions_loaded_bytes": 1024,
        "llr_evictions_total": 3,
        "llr_streams_open": 1,
        "llr_drifts_total": 2,
        "llr_sessions": 7,
        "llr_store_bytes": 8192,
    }
    seen = values(metrics)
    assert {name: seen[name] for name in expected} == expected


def test_what_has_not_happened_yet_is_there_as_zero() -> None:
    seen = values(Metrics())
    assert seen["llr_divergences_total"] == 0
    assert seen["llr_streams_open"] == 0
    assert seen["process_resident_memory_bytes"] > 0


def test_two_apps_in_one_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.learnt(1, 0.1)
    assert values(one)["llr_samples_total"] == 1
    assert values(other)["llr_samples_total"] == 0


def test_threads_lose_no_count() -> None:
    metrics = Metrics()

    def work(_: int) -> None:
        for _ in range(500):
            metrics.learnt(2, 0.0)
            metrics.request(ROUTE, "POST", 200, 0.0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    seen = values(metrics)
    assert seen["llr_samples_total"] == 4000
    assert seen[f"llr_requests_total,method=POST,route={ROUTE},status=2xx"] == 2000


def test_the_content_type_is_the_one_of_the_text() -> None:
    text, content_type = Metrics().render()
    assert content_type.startswith("text/plain; version=")
    assert text.endswith(b"\n")
    assert text.isascii()
