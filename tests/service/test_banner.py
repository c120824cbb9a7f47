import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from llr_service.__main__ import main
from llr_service.banner import banner, why_not_listening
from llr_service.http.auth import hash_key
from llr_service.settings import Settings

KEYS = f"alice:admin:{hash_key('a')},bob:read:{hash_key('b')}"


def test_the_banner_names_the_addresses_the_store_and_the_access() -> None:
    shown = banner(Settings(store="sqlite:///x.db"), "127.0.0.1", 8080)
    assert "dashboard  http://127.0.0.1:8080/\n" in shown
    assert "API        http://127.0.0.1:8080/docs\n" in shown
    assert "store      sqlite:///x.db\n" in shown


@pytest.mark.parametrize(
    ("given", "access"),
    [
        ({}, "no keys: this machine only"),
        ({"api_keys": KEYS}, "2 keys"),
        ({"host": "0.0.0.0", "insecure": True}, "no keys: everyone on the network"),  # noqa: S104
    ],
)
def test_the_banner_says_who_may_use_the_service(given: dict[str, object], access: str) -> None:
    settings = Settings.model_validate({"store": "memory:"} | given)
    assert f"access     {access}" in banner(settings, settings.host, 1)


def test_the_banner_shows_no_password_and_no_page_that_is_off() -> None:
    shown = banner(Settings(store="postgresql://u:secret@h/d", docs=False), "127.0.0.1", 1)
    assert "secret" not in shown
    assert "/docs" not in shown


def test_a_taken_port_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["--port", str(port), "--store", "memory:"]) == 1
    assert f"llr serve: port {port} of 127.0.0.1 is taken" in capsys.readouterr().err
    assert why_not_listening("127.0.0.1", port) is None


def test_an_address_of_another_machine_is_a_sentence() -> None:
    assert "no address '192.0.2.1'" in (why_not_listening("192.0.2.1", 8080) or "")


def test_on_a_terminal_there_is_a_banner_and_the_logs_are_text(tmp_path: Path) -> None:
    control, terminal = pty.openpty()
    command = [sys.executable, "-m", "llr_service", "--port", "0", "--store", "memory:"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=terminal, stderr=terminal) as process:  # noqa: S603
        os.close(terminal)
        shown = b""
        try:
            while b"this machine only" not in shown:
                shown += os.read(control, 4096)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
            os.close(control)
    assert b"LLR " in shown
    assert b"dashboard" in shown
    assert b"{" not in shown
