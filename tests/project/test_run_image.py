"""The compose file, as `make image-test` reads it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scripts.run_image import Container, Failed, compose, health_check, seconds

IMAGE = {
    "User": f"{os.getuid()}:{os.getgid()}",
    "Env": ["LLR_PORT=8080"],
    "Cmd": ["llr-service"],
    "WorkingDir": "/data",
}


@pytest.mark.slow
def test_the_services_are_read_with_defaults_filled_in_and_shared_parts_merged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLR_INSECURE", "not this one")
    services = compose()
    assert services["service"]["environment"]["LLR_INSECURE"] == "true"
    assert services["service"]["read_only"] is True
    assert services["service"]["volumes"] == ["sessions:/var/lib/llr"]
    assert services["replay"]["depends_on"] == {"service": {"condition": "service_healthy"}}


def container(folder: Path, **options: Any) -> Container:
    (folder / "root/data").mkdir(parents=True)
    return Container("service", options, folder / "root", IMAGE, folder)


def test_options_become_the_containers_configuration(tmp_path: Path) -> None:
    service = container(
        tmp_path,
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        environment={"LLR_INSECURE": "true"},
        tmpfs=["/tmp"],  # noqa: S108
        volumes=["sessions:/data"],
    )
    made = service.specification(["llr"], network=7)
    assert made["root"] == {"path": str(tmp_path / "root"), "readonly": True}
    assert made["process"]["capabilities"]["bounding"] == []
    assert made["process"]["noNewPrivileges"] is True
    assert made["process"]["env"] == ["LLR_PORT=8080", "LLR_INSECURE=true"]
    assert made["process"]["user"] == {"uid": os.getuid(), "gid": os.getgid()}
    places = {one["destination"]: one for one in made["mounts"]}
    assert places["/tmp"]["type"] == "tmpfs"  # noqa: S108
    assert Path(places["/data"]["source"]).is_dir()
    assert {"type": "network", "path": "/proc/7/ns/net"} in made["linux"]["namespaces"]
    json.dumps(made)


def test_durations_are_seconds() -> None:
    assert seconds("10s") == 10.0
    with pytest.raises(Failed):
        seconds("1m")


def test_the_compose_file_changes_the_images_health_check() -> None:
    image = {"Test": ["CMD", "ask"], "Interval": 10**10, "StartPeriod": 6 * 10**10, "Retries": 3}
    assert health_check(image, {}) == (["ask"], 10.0, 60.0, 3)
    changed = {"test": ["CMD", "look", "-v"], "interval": "5s", "timeout": "1s", "retries": 7}
    assert health_check(image, changed) == (["look", "-v"], 5.0, 60.0, 7)
    for refused in ({"disable": True}, {"test": ["CMD-SHELL", "ask"]}, {"interval": "1m"}):
        with pytest.raises(Failed):
            health_check(image, refused)
