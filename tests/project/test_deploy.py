"""The image and the demo around it, checked as far as they can be without an engine."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import llr_client
import yaml
from llr_cli.cli import app as cli
from llr_service.ready import is_ready
from llr_service.settings import Settings, described
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient
from support.dockerfile import Ignored, Instruction, assignments, instructions, stages
from support.root import ROOT
from support.serving import started
from typer.main import get_command

TEXT = (ROOT / "Dockerfile").read_text()
STAGES = stages(TEXT)
LAST = STAGES[-1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
VARIABLES = {setting.variable for setting in described()}
OF_CLIENTS = {"LLR_URL", "LLR_KEY"}
OF_THE_LIBRARY = {"LLR_KERNELS"}
PINNED = re.compile(r"[a-z0-9/.-]+:v?\d+\.\d+\.\d+[a-z0-9.-]*")


def of_kind(*keywords: str) -> list[Instruction]:
    return [one for one in instructions(TEXT) if one.keyword in keywords]


def test_every_base_image_is_pinned_or_a_stage_before() -> None:
    names: set[str] = set()
    for stage in STAGES:
        assert stage.origin in names or PINNED.fullmatch(stage.origin), stage.origin
        names.add(stage.name)
    for service in SERVICES.values():
        assert PINNED.fullmatch(service["image"]), service["image"]


def test_the_image_has_the_version_of_the_project() -> None:
    for name in ("docker-compose.yml", "docker-compose.scale.yml", "deploy/kubernetes.yml"):
        tags = re.findall(r"image: llr:(\S+)", (ROOT / name).read_text())
        assert set(tags) == {llr_client.__version__}, name
    assert f"llr:{llr_client.__version__} " in (ROOT / "docs/deploy.md").read_text()


def test_the_service_does_not_run_as_root_and_nothing_follows_that_could_change_it() -> None:
    users = [one.rest for one in LAST.instructions if one.keyword == "USER"]
    assert len(users) == 1
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", users[0])
    after = LAST.instructions[-1:]
    assert [one.keyword for one in after] == ["CMD"]
    assert LAST.instructions[-2].keyword == "USER"
    owners = [one.flags["chown"] for one in LAST.instructions if "chown" in one.flags]
    assert owners == users


def test_commands_are_lists_so_that_signals_reach_the_one_process() -> None:
    for one in of_kind("CMD", "ENTRYPOINT"):
        assert one.is_list, one.rest
    [health] = of_kind("HEALTHCHECK")
    assert "CMD [" in health.rest
    assert of_kind("ENTRYPOINT") == []
    for service in SERVICES.values():
        assert isinstance(service.get("command", []), list)


def test_nothing_is_fetched_or_left_behind_that_need_not_be() -> None:
    assert of_kind("ADD") == []
    for one in of_kind("RUN"):
        assert not re.search(r"\b(curl|wget|sudo)\b", one.rest)
        assert "apt-get install" not in one.rest or "rm -rf /var/lib/apt/lists" in one.rest
    everything = {k: v for one in of_kind("ENV") for k, v in assignments(one).items()}
    assert everything["PIP_NO_CACHE_DIR"] == "1"
    assert everything["PIP_CONSTRAINT"].endswith("/constraints.txt")
    assert not any(re.search("(?i)key|secret|password|token", name) for name in everything)


def test_what_is_copied_is_there_and_goes_to_the_builder_and_the_rest_does_not() -> None:
    ignored = Ignored((ROOT / ".dockerignore").read_text())
    copied = [one for one in of_kind("COPY") if "from" not in one.flags]
    for source in [word for one in copied for word in one.words[:-1]]:
        assert (ROOT / source).exists(), source
        assert source not in ignored
    for kept in (
        "llr/algorithms/step.py",
        "service/llr_service/stores/sqlite/file.py",
        "clients/llr_client/py.typed",
    ):
        assert kept not in ignored
    for left in (
        ".git",
        ".venv/bin/python",
        "tests/service/test_api.py",
        "llr/__pycache__/a.pyc",
        ".env",
    ):
        assert left in ignored, left


def test_kernels_are_compiled_for_the_installed_sources_with_dates_that_layers_keep() -> None:
    [build] = [stage for stage in STAGES if stage.name == "build"]
    steps = [(one.keyword, one.rest) for one in build.instructions]
    at = next(k for k, (_, rest) in enumerate(steps) if "llr.prepare()" in rest)
    folders = [rest for keyword, rest in steps[:at] if keyword == "WORKDIR"]
    assert folders[-1] not in folders[:-1]  # Python imports what is in its folder first
    assert "touch --date" in steps[at - 2][1]


def test_a_copy_from_a_stage_names_one_that_is_before() -> None:
    names: list[str] = []
    for stage in STAGES:
        for one in stage.instructions:
            assert one.flags.get("from", names[0] if names else "") in [*names, ""]
        names.append(stage.name)


def test_every_variable_is_one_that_is_read() -> None:
    in_image = {name for one in of_kind("ENV") for name in assignments(one)}
    ours = {name for name in in_image if name.startswith("LLR_")}
    assert ours <= VARIABLES | OF_THE_LIBRARY
    assert ours >= OF_THE_LIBRARY
    assert set(SERVICES["service"]["environment"]) <= VARIABLES
    assert set(SERVICES["replay"]["environment"]) <= OF_CLIENTS


def environment(**more: str) -> dict[str, str]:
    """What the service gets in the demo, as settings, with nothing in .env but this."""
    image = {k: v for one in of_kind("ENV") for k, v in assignments(one).items()}
    given = {**image, **SERVICES["service"]["environment"]}

    def filled(match: re.Match[str]) -> str:
        return more.get(match[1]) or match[2]

    texts = {k: re.sub(r"\$\{(\w+):-(.*?)\}", filled, v) for k, v in given.items()}
    names = {setting.variable: setting.name for setting in described()}
    return {names[k]: v for k, v in texts.items() if k in names and v}


def test_the_demo_is_open_to_this_machine_only_or_asks_for_keys() -> None:
    for service in SERVICES.values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), port
    settings = Settings(**environment())  # type: ignore[arg-type]
    assert settings.insecure
    assert settings.host == "0.0.0.0"  # noqa: S104
    key = f"a:admin:{64 * '0'}"
    closed = Settings(**environment(LLR_API_KEYS=key, LLR_INSECURE="false"))  # type: ignore[arg-type]
    assert [one.name for one in closed.api_keys] == ["a"]


def test_sessions_are_kept_on_the_volume() -> None:
    store = Settings(**environment()).store.removeprefix("sqlite:///")  # type: ignore[arg-type]
    [volume] = [one.rest for one in LAST.instructions if one.keyword == "VOLUME"]
    assert store.startswith(f"{volume}/")
    name, _, place = SERVICES["service"]["volumes"][0].partition(":")
    assert place == volume
    assert name in COMPOSE["volumes"]
    [exposed] = [one.rest for one in LAST.instructions if one.keyword == "EXPOSE"]
    assert SERVICES["service"]["ports"] == [f"127.0.0.1:{exposed}:{exposed}"]


def test_what_the_demo_runs_exists() -> None:
    words = SERVICES["replay"]["command"]
    assert words[0] == "llr"
    command = get_command(cli)
    context = command.make_context("llr", ["replay"], resilient_parsing=True)
    replay: Any = command.get_command(context, words[1])  # type: ignore[attr-defined]
    known = {option for parameter in replay.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    read = {parameter.envvar for parameter in replay.params} - {None}
    assert read == OF_CLIENTS
    address = words[words.index("--url") + 1]
    assert address == "http://service:8080"


def test_mounted_files_and_named_services_are_there() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / source).exists(), source
        assert set(service.get("depends_on", [])) <= set(SERVICES)
    assert {name for name, one in SERVICES.items() if "profiles" in one} == {
        "prometheus",
        "grafana",
    }


def test_prometheus_asks_the_service_and_grafana_asks_prometheus() -> None:
    scraped = yaml.safe_load((ROOT / "deploy/prometheus.yml").read_text())
    [job] = scraped["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["service:8080"]}]
    folder = ROOT / "deploy/grafana/provisioning"
    [source] = yaml.safe_load((folder / "datasources/prometheus.yml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"
    [provider] = yaml.safe_load((folder / "dashboards/boards.yml").read_text())["providers"]
    mounted = {volume.split(":")[1] for volume in SERVICES["grafana"]["volumes"]}
    assert provider["options"]["path"] in mounted
    board = json.loads((ROOT / "deploy/grafana/boards/llr.json").read_text())
    asked = {one["datasource"]["uid"] for panel in board["panels"] for one in panel["targets"]}
    assert asked == {source["uid"]}


def test_the_board_shows_only_what_the_service_tells(client: TestClient) -> None:
    client.put("/v1/sessions/demo", json={"model": "gaussian"})
    client.post("/v1/sessions/demo/samples", json={"y": 1})
    with client.websocket_connect("/v1/sessions/demo/stream") as stream:
        stream.send_text('{"y": 1}')
        stream.receive_text()
    families = [*text_string_to_metric_families(client.get("/metrics").text)]
    labels: dict[str, set[str]] = {}
    for sample in (sample for family in families for sample in family.samples):
        labels.setdefault(sample.name, set()).update(sample.labels)
    board = json.loads((ROOT / "deploy/grafana/boards/llr.json").read_text())
    asked: set[str] = set()
    for panel in board["panels"]:
        for target in panel["targets"]:
            names = set(re.findall(r"\b(?:llr|process)_\w+", target["expr"]))
            assert names, target["expr"]
            assert names <= set(labels), target["expr"]
            by = {
                one
                for found in re.findall(r"by \((.*?)\)", target["expr"])
                for one in found.split(", ")
            }
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            assert by | shown <= set.union(*(labels[name] for name in names))
            asked |= names
    told = {_family(one.name) for one in families if one.name.startswith("llr_")}
    assert told <= {_family(name) for name in asked}, "the board leaves something out"


def _family(name: str) -> str:
    return re.sub("_(bucket|sum|count|created|total)$", "", name)


def test_the_health_check_tells_a_service_that_is_ready(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        assert is_ready(server.port)
        asked = [sys.executable, "-m", "llr_service.ready"]
        environment = {"LLR_PORT": str(server.port), "PATH": "", "PYTHONPATH": str(ROOT)}
        assert subprocess.run(asked, env=environment, check=False).returncode == 0  # noqa: S603
    assert not is_ready(server.port)


def test_a_dockerfile_is_read_with_its_flags_lists_and_long_lines() -> None:
    text = 'FROM x:1 AS a\n# b\nRUN one \\\n    && two\nCOPY --from=a /b c/\nCMD ["d", "e f"]\n'
    [stage] = stages(text)
    assert (stage.origin, stage.name) == ("x:1", "a")
    run, copy, command = stage.instructions
    assert run.rest == "one && two"
    assert (copy.flags, copy.words) == ({"from": "a"}, ["/b", "c/"])
    assert command.words == ["d", "e f"]
