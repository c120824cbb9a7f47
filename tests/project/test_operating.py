"""Alarms, and what runs several replicas: checked as far as that goes without their engines."""

import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from llr_cli.cli import app as cli
from llr_service.settings import described
from starlette.testclient import TestClient
from support.balancer import Balancer
from support.caddy import validated
from support.root import ROOT
from typer.main import get_command

from scripts.system_programs import need

RULES: list[dict[str, Any]] = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text())["groups"][0][
    "rules"
]
CASES = yaml.safe_load((ROOT / "tests/project/alerts.yml").read_text())["tests"]
SCALE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.scale.yml").read_text())
SERVICES: dict[str, Any] = SCALE["services"]
REPLICAS = [name for name in SERVICES if name.startswith("replica-")]
KUBERNETES = [*yaml.safe_load_all((ROOT / "deploy/kubernetes.yml").read_text())]
VARIABLES = {setting.variable for setting in described()}
VERSIONS = ("1.29", "1.33")
PINNED = re.compile(r"[a-z0-9/.-]+:v?\d+(\.\d+)+[a-z0-9.-]*")


def promtool(*words: str) -> None:
    done = subprocess.run([need("promtool"), *words], check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def test_alarms_are_raised_when_they_should_be_and_not_otherwise() -> None:
    promtool("check", "rules", str(ROOT / "deploy/alerts.yml"))
    promtool("test", "rules", str(ROOT / "tests/project/alerts.yml"))
    raised = {
        test["alertname"]
        for case in CASES
        for test in case["alert_rule_test"]
        if test.get("exp_alerts")
    }
    quiet = {test["alertname"] for test in CASES[0]["alert_rule_test"]}
    assert raised == quiet == {rule["alert"] for rule in RULES}


def test_every_alarm_has_its_page_in_the_runbook() -> None:
    titles = re.findall(r"^## (Llr\w+)$", (ROOT / "docs/runbook.md").read_text(), re.MULTILINE)
    assert titles == [rule["alert"] for rule in RULES]


def test_alarms_ask_only_for_what_the_service_tells(client: TestClient) -> None:
    told = client.get("/metrics").text
    for rule in RULES:
        for name in re.findall(r"\b(?:llr|process)_\w+", rule["expr"]):
            family = re.sub("_(bucket|sum|count|total)$", "", name)
            assert re.search(rf"^# TYPE {family}(_total)? ", told, re.MULTILINE), name


@pytest.mark.parametrize("compose", ["docker-compose.yml", "docker-compose.scale.yml"])
def test_prometheus_is_given_the_alarms_and_asks_every_service(compose: str) -> None:
    services = yaml.safe_load((ROOT / compose).read_text())["services"]
    mounted = dict(volume.split(":")[:2] for volume in services["prometheus"]["volumes"])
    [config] = [path for path, place in mounted.items() if place.endswith("/prometheus.yml")]
    asked = yaml.safe_load((ROOT / config).read_text())
    assert asked["rule_files"] == ["alerts.yml"]
    assert mounted["./deploy/alerts.yml"] == "/etc/prometheus/alerts.yml"
    targets = asked["scrape_configs"][0]["static_configs"][0]["targets"]
    replicas = [name for name in services if name == "service" or name.startswith("replica-")]
    assert targets == [f"{name}:8080" for name in replicas]


def test_systemd_takes_the_unit_and_finds_it_hardened(tmp_path: Path) -> None:
    unit, program = (ROOT / "deploy/llr.service").read_text(), "/opt/llr/bin/llr serve"
    assert f"ExecStart={program}\n" in unit
    copy = tmp_path / "llr.service"
    copy.write_text(unit.replace(program, "/bin/true"))  # what is started has to be there
    analyze = need("systemd-analyze")
    for words in (["verify"], ["security", "--offline=true", "--threshold=20", "--no-pager"]):
        done = subprocess.run([analyze, *words, copy], check=False, capture_output=True, text=True)  # noqa: S603
        assert done.returncode == 0, done.stdout + done.stderr
        assert "llr.service" not in done.stderr, "it warns of what it ignores"


def test_the_unit_sets_what_there_is_and_is_installed_as_documented() -> None:
    unit = (ROOT / "deploy/llr.service").read_text()
    given = set(re.findall(r"^Environment=(LLR_\w+)=", unit, re.MULTILINE))
    assert given - {"LLR_KERNELS"} <= VARIABLES
    assert "LLR_API_KEYS_FILE=/etc/llr/keys" in unit
    assert "ExecReload=/bin/kill -HUP $MAINPID" in unit
    page = (ROOT / "docs/operations.md").read_text()
    for place in ("/etc/llr/keys", "/etc/llr/llr.env", "/var/lib/llr/llr.db", "/var/cache/llr"):
        assert place in unit
        assert place in page


def test_replicas_are_the_same_and_know_their_database() -> None:
    assert len(REPLICAS) == 3
    first = SERVICES[REPLICAS[0]]
    assert all(SERVICES[name] == first for name in REPLICAS)
    assert set(first["environment"]) <= VARIABLES
    database = SERVICES["postgres"]["environment"]
    user, name = database["POSTGRES_USER"], database["POSTGRES_DB"]
    url = f"postgresql://{user}:{database['POSTGRES_PASSWORD']}@postgres:5432/{name}"
    assert first["environment"]["LLR_STORE"] == url
    assert SERVICES["migrate"]["environment"]["LLR_STORE"] == url
    assert SERVICES["migrate"]["command"] == ["llr", "migrate"]
    assert "migrate" in get_command(cli).commands  # type: ignore[attr-defined]
    allowed = re.search(r":-(.*)\}", first["environment"]["LLR_ALLOWED_HOSTS"])
    assert allowed is not None
    assert set(REPLICAS) <= set(allowed[1].split(","))


def test_what_runs_replicas_is_pinned_and_open_to_this_machine_only() -> None:
    for service in SERVICES.values():
        assert PINNED.fullmatch(service["image"]), service["image"]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        assert set(service.get("depends_on", [])) <= set(SERVICES)
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in SCALE["volumes"] or (ROOT / source).exists(), source


def test_both_balancers_know_every_replica() -> None:
    for file in ("nginx.conf", "Caddyfile"):
        text = (ROOT / "deploy" / file).read_text()
        assert sorted(set(re.findall(r"replica-\d", text))) == REPLICAS


def test_nginx_takes_the_configuration_that_is_shipped() -> None:
    with Balancer(["127.0.0.1:9"]) as balancer:
        assert balancer.port


def test_caddy_takes_the_configuration_that_is_shipped(tmp_path: Path) -> None:
    assert "Valid configuration" in validated(tmp_path)


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_the_example(version: str) -> None:
    kinds = [resource["kind"] for resource in KUBERNETES]
    assert kinds == ["Secret", "Deployment", "Service", "PodDisruptionBudget"]
    for resource in KUBERNETES:
        kubernetes_validate.validate(resource, version, strict=True)


def test_the_parts_of_the_kubernetes_example_belong_together() -> None:
    secret, deployment, service, budget = KUBERNETES
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert service["spec"]["selector"] == budget["spec"]["selector"]["matchLabels"] == labels
    assert 0 < budget["spec"]["minAvailable"] < deployment["spec"]["replicas"]
    [container], [first] = pod["spec"]["containers"], pod["spec"]["initContainers"]
    given = {*secret["stringData"], *(one["name"] for one in container["env"])}
    assert given <= VARIABLES
    assert container["image"] == first["image"] == SERVICES[REPLICAS[0]]["image"]
    for one in (container, first):
        assert one["envFrom"] == [{"secretRef": {"name": secret["metadata"]["name"]}}]
        assert one["securityContext"]["readOnlyRootFilesystem"]
    [port] = container["ports"]
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]


def test_probes_ask_for_what_there_is(client: TestClient) -> None:
    container = KUBERNETES[1]["spec"]["template"]["spec"]["containers"][0]
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    assert [client.get(probe["path"]).status_code for probe in probes] == [200, 200, 200]
    assert {probe["port"] for probe in probes} == {container["ports"][0]["name"]}
    assert probes[1]["path"] != probes[2]["path"], "a database that is away restarts nothing"
