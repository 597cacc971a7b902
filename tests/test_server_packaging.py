"""What packaging/server has is taken by the programs that read it, and names options that there are."""

import contextlib
import http.client
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from clone import ROOT, skip_without

from tropalign.cli.main import make_parser

skip_without("packaging")
FOLDER = ROOT / "packaging" / "server"
VARIABLE = re.compile(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}")


def options_of(words):
    """The words behind `tropalign`, as its parser takes them."""
    return make_parser(False).parse_args(words)


@pytest.fixture(scope="module")
def compose():
    return pytest.importorskip("yaml").safe_load((FOLDER / "compose.yaml").read_text())


def filled(word):
    return VARIABLE.sub(lambda found: found[3] if found[2] == ":-" else "secret", word)


def test_the_services_of_compose_are_commands_that_there_are(compose):
    services = compose["services"]
    server, worker = (options_of([filled(word) for word in services[name]["command"]]) for name in ("server", "worker"))
    assert server.workers == 0 and worker.only_workers and worker.workers == 2
    assert server.database == worker.database == "postgresql://tropalign@database/tropalign"
    assert server.folder == worker.folder and f"files:{server.folder}" in services["server"]["volumes"]
    dockerfile = (ROOT / "Dockerfile").read_text()
    extras = re.search(r"^ARG EXTRAS=(.*)$", dockerfile, re.MULTILINE)[1].split(",")
    assert {"serve", "postgres"} <= set(extras)
    assert f"--mode=0700 {server.folder}" in dockerfile, "a new volume has the owner of what it hides"


def test_compose_has_no_password_and_no_open_port(compose):
    text = (FOLDER / "compose.yaml").read_text()
    told = dict(re.findall(r"^(\w+)=(.*)$", (FOLDER / "env.example").read_text(), re.MULTILINE))
    asked = {name: (kind, value) for name, kind, value in VARIABLE.findall(text)}
    assert asked.keys() == told.keys()
    assert {name for name, (kind, _) in asked.items() if kind == ":?"} == {"POSTGRES_PASSWORD"}
    assert all(value == told[name] for name, (kind, value) in asked.items() if kind == ":-")
    assert told["POSTGRES_PASSWORD"] == ""
    for name, service in compose["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        assert "healthcheck" in service, name
    assert compose["services"]["server"]["cap_drop"] == ["ALL"] and compose["services"]["worker"]["read_only"]


def test_docker_takes_the_compose_file():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("docker compose is not installed")
    command = [docker, "compose", "--file", FOLDER / "compose.yaml", "config", "--quiet"]
    without = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert without.returncode and "write POSTGRES_PASSWORD into .env" in without.stderr
    subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin", "POSTGRES_PASSWORD": "secret"})


@pytest.fixture
def unit(tmp_path):
    """The unit with a program and a user that there are."""
    text = (FOLDER / "tropalign.service").read_text()
    path = tmp_path / "tropalign.service"
    text = re.sub(r"^(User|Group)=.*", r"\1=daemon", text, flags=re.MULTILINE)
    path.write_text(text.replace("/opt/tropalign/bin/tropalign", "/bin/true"))
    return path


def test_the_unit_starts_a_command_that_there_is(unit):
    text = (FOLDER / "tropalign.service").read_text()
    _, *words = shlex.split(re.search(r"^ExecStart=(.*) \$OPTIONS$", text, re.MULTILINE)[1])
    options = options_of(words)
    assert options.require_token
    examples = re.findall(r"tropalign (serve --.*)$|OPTIONS=(--.*)$", text, re.MULTILINE)
    assert len(examples) == 3
    for command, more in examples:
        options_of(shlex.split(command.replace(" $OPTIONS", "") or f"serve {more}"))
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True)
    assert done.returncode == 0 and unit.name not in done.stderr, done.stderr
    check = [analyze, "security", "--offline=yes", "--threshold=20", unit]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


class Upstream(BaseHTTPRequestHandler):
    """In the server's place: says what reached it, and sends an event before it waits."""

    protocol_version = "HTTP/1.1"
    may_end = threading.Event()

    def do_GET(self):
        body = f"{self.headers.get('Host')} {self.headers.get('X-Remote-User')}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if self.path.endswith("/events"):
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
            self.may_end.wait(60)
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@pytest.fixture
def upstream():
    Upstream.may_end.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    Upstream.may_end.set()
    server.shutdown()
    server.server_close()
    thread.join()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextlib.contextmanager
def started(command, port):
    """A program that listens there."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        assert process.poll() is None, process.stdout.read()
        yield
    finally:
        process.terminate()
        process.communicate(timeout=30)


def asked(connect, path):
    """The first line of the answer, which may go on."""
    connection = connect()
    connection.request("GET", path, headers={"Host": "align.example.org", "X-Remote-User": "root"})
    with contextlib.closing(connection), contextlib.closing(connection.getresponse()) as response:
        return response.readline()


def passes_through(connect):
    """A page, and an event before its answer ends, but no name that somebody gave himself."""
    assert asked(connect, "/jobs") == b"align.example.org None\n"
    assert asked(connect, "/api/v1/jobs/abc/events") == b"align.example.org None\n"  # while the upstream still waits
    Upstream.may_end.set()


def refuses_what_is_too_large(connect):
    """Before anything of it was sent."""
    connection = connect()
    connection.putrequest("POST", "/api/v1/files", skip_host=True)
    connection.putheader("Host", "align.example.org")
    connection.putheader("Content-Length", str(501 << 20))
    connection.endheaders()
    with contextlib.closing(connection), contextlib.closing(connection.getresponse()) as response:
        assert response.status == 413


def test_nginx_passes_pages_events_and_no_names(tmp_path, upstream):
    nginx, openssl = (
        shutil.which(name, path="/usr/sbin:/usr/bin:/bin:/usr/local/bin") for name in ("nginx", "openssl")
    )
    if nginx is None or openssl is None:
        pytest.skip("nginx or openssl is not installed")
    certificate, key, port = tmp_path / "cert.pem", tmp_path / "key.pem", free_port()
    make = f"{openssl} req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=align.example.org"
    subprocess.run([*make.split(), "-out", certificate, "-keyout", key], check=True, capture_output=True)
    text = (FOLDER / "nginx.conf").read_text()
    for old, new in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("127.0.0.1:8080", f"127.0.0.1:{upstream}"),
        ("/etc/ssl/certs/align.example.org.pem", str(certificate)),
        ("/etc/ssl/private/align.example.org.key", str(key)),
    ):
        assert old in text
        text = text.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {tmp_path};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = f"daemon off; pid {tmp_path}/pid; error_log stderr;\nevents {{}}\n"
    (tmp_path / "nginx.conf").write_text(f"{main}http {{ access_log off;\n{temporary}{text} }}\n")
    command = [nginx, "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    told = subprocess.run([*command, "-t"], capture_output=True, text=True)
    assert told.returncode == 0 and "warn" not in told.stderr, told.stderr
    context = ssl.create_default_context(cafile=str(certificate))
    context.check_hostname = False
    with started(command, port):
        connect = partial(http.client.HTTPSConnection, "127.0.0.1", port, timeout=30, context=context)
        passes_through(connect)
        refuses_what_is_too_large(connect)


def test_caddy_passes_pages_events_and_no_names(tmp_path, upstream, monkeypatch):
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed")
    port, text = free_port(), (FOLDER / "Caddyfile").read_text()
    assert text.count("\nalign.example.org {") == 1 and "127.0.0.1:8080" in text
    text = text.replace("\nalign.example.org {", f"\nhttp://align.example.org:{port} {{\n\tbind 127.0.0.1")
    path = tmp_path / "Caddyfile"
    path.write_text("{\n\tadmin off\n}\n" + text.replace("127.0.0.1:8080", f"127.0.0.1:{upstream}"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    command = [caddy, "run", "--adapter", "caddyfile", "--config", str(path)]
    with started(command, port):
        passes_through(partial(http.client.HTTPConnection, "127.0.0.1", port, timeout=30))
