"""E-mail at the end of jobs: which addresses may get one, and messages to a mail server of these tests."""

import email
import email.policy
import socketserver
import threading
import time

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
pytest.importorskip("fastapi", reason="the server's modules are not installed: pip install 'tropalign[serve]'")

from dataclasses import replace

from serve.storage.storage_files import run_next, submit
from serve.work.job_desk import wait_until

from tropalign.cli.main import main
from tropalign.errors import UsageError
from tropalign.serve import notices
from tropalign.serve.notices import check_mail, is_mail, message_of, send, told_where
from tropalign.serve.records import Job, State
from tropalign.serve.settings import MailServer, Settings
from tropalign.serve.storage import Storage
from tropalign.serve.work import supervisor

JOB = Job("id", "ann", "pairs", "kinases", (), State.DONE, "k", {}, "command", "1", 0.0, finished=60.0)
SERVER = MailServer("smtp.example", 25, "tropalign@a.example", ("a.example",))


class Session(socketserver.StreamRequestHandler):
    """A dialogue of SMTP, as far as `smtplib` needs one."""

    def handle(self):
        post = self.server
        self.tell("220 here" if not post.hangs else "220-wait")
        while line := self.rfile.readline().decode().strip():
            word = line.split(" ")[0].upper()
            post.lines.append(line)
            if word == "EHLO":
                self.tell("250-here\r\n250 AUTH PLAIN")
            elif word == "AUTH":
                self.tell("235 welcome" if "AGFubgBzZWNyZXQ=" in line else "535 who are you?")
            elif word == "RCPT" and post.refuses:
                self.tell("550 no such user")
            elif word == "DATA":
                self.tell("354 go on")
                text = b""
                while (part := self.rfile.readline()) != b".\r\n":
                    text += part
                post.messages.append(email.message_from_bytes(text, policy=email.policy.default))
                self.tell("250 taken")
            elif word == "QUIT":
                return self.tell("221 bye")
            else:
                self.tell("250 fine")
        return None

    def tell(self, words):
        self.wfile.write(f"{words}\r\n".encode())


@pytest.fixture
def post():
    class Post(socketserver.ThreadingTCPServer):
        daemon_threads, allow_reuse_address = True, True
        hangs = refuses = False

    with Post(("127.0.0.1", 0), Session) as server:
        server.messages, server.lines = [], []
        server.mail = MailServer("localhost", server.server_address[1], "tropalign@a.example", ("a.example",))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_what_is_an_address_and_who_may_be_told(tmp_path):
    assert is_mail("ann@a.example") and is_mail("mailto:ann")
    assert not is_mail("https://ann@a.example/") and not is_mail("a.example")
    settings = Settings(folder=tmp_path, mail=SERVER, hook_hosts=("chat.example",))
    assert told_where(settings) == "an e-mail address at a.example, or a web hook (at chat.example)"
    assert told_where(Settings(folder=tmp_path, mail=replace(SERVER, domains=("*",)))) == "an e-mail address"
    assert told_where(Settings(folder=tmp_path)) == ""


@pytest.mark.parametrize("address", ["ann@a.example", "mailto:ann@A.Example", "ann+jobs@a.example"])
def test_addresses_that_may_be_written_to(address):
    check_mail(address, SERVER)
    check_mail("eve@elsewhere.example", replace(SERVER, domains=("*",)))


@pytest.mark.parametrize(
    ("address", "server", "sentence"),
    [
        ("ann@a.example", None, r"this server does not send e-mail: ask its operator \(--smtp\)"),
        ("ann@b.example", SERVER, "e-mail is sent only to addresses at a.example: name one of them, or ask"),
        ("ann@x.a.example", SERVER, "at a.example: name"),
        ("ann@a.example,eve@b.example", SERVER, "is not an e-mail address: write it like ann@example.org"),
        ("ann@a.example\nBcc: eve@b.example", SERVER, "not an e-mail"), ("ann", SERVER, "not an e-mail address"),
        ('"a b"@a.example', SERVER, "not an e-mail"), ("x" * 65 + "@a.example", SERVER, "not an e-mail address"),
        ("=?utf-8?q?=0D=0ABcc:_evil?=@a.example", SERVER, "not an e-mail address"),
        ("ann@[127.0.0.1]", SERVER, "not an e-mail address"), ("än@a.example", SERVER, "not an e-mail address"),
    ],
)  # fmt: skip
def test_an_address_that_may_not_be_written_to_is_refused(address, server, sentence):
    with pytest.raises(UsageError, match=sentence):
        check_mail(address, server)


def test_a_message_tells_of_the_job_and_no_title_makes_headers():
    job = replace(JOB, title="kinases\r\nBcc: eve@b.example\x1b[1m", message="it was stopped")
    made = read_back(message_of("ann@a.example", replace(SERVER, site="https://align.example"), job))
    assert made["Subject"] == "tropalign: pairs 'kinases Bcc: eve@b.example [1m' is done"
    assert (made["To"], made["From"], made["Bcc"]) == ("ann@a.example", "tropalign@a.example", None)
    assert made["Auto-Submitted"] == "auto-generated"
    text = made.get_content()
    assert "at 1970-01-01 00:01 UTC: done." in text and "it was stopped" in text
    assert "https://align.example/jobs/id" in text


def read_back(message):
    """A message as whoever gets it reads it."""
    return email.message_from_bytes(message.as_bytes(), policy=email.policy.default)


@pytest.mark.parametrize(
    "title",
    [
        "=?utf-8?q?=0D=0ABcc:_evil@x.org?=",
        "=?utf-8?b?DQpCY2M6IGV2aWxAeC5vcmc=?=",
        "a =?iso-8859-1?Q?=0D=0A=0D=0Abody?= b",
        "=?us-ascii?q?x=0ABcc:?= =?utf-8?q?_evil@x.org?=",
        "=?utf-8*en?q?=0D=0ABcc:_evil@x.org?=",
        "=?utf-8?q?=?utf-8?q?=0D=0ABcc:_evil@x.org?=?=",
        "ü =?utf-8?q?=0D=0ABcc:_evil@x.org?= " + "long " * 40,
        "x" * 400,
        "\u2028Bcc: evil@x.org\u0085\u202e",
        "\ud800 lone",
        "kinases, 'quoted' <b> & \\r\\n",
    ],
)
def test_no_layer_makes_headers_of_a_title(post, title):
    """What is on the wire, line by line; whoever reads it sees the title's letters."""
    job = replace(JOB, title=title, message=title)
    lines = message_of("ann@a.example", SERVER, job).as_bytes().split(b"\n\n", 1)[0].splitlines()
    known = (b"From:", b"To:", b"Subject:", b"Date:", b"Message-ID:", b"Auto-Submitted:", b"Content-", b"MIME-", b" ")
    assert all(line.startswith(known) for line in lines), lines
    assert sum(line.startswith(b"Subject:") for line in lines) == 1
    assert send("ann@a.example", post.mail, job) == ""
    (message,) = post.messages
    assert {*message.keys()} & {"Bcc", "Cc"} == set() and message["To"] == "ann@a.example"
    if "\ud800" not in title:
        shown = " ".join("".join(letter if letter.isprintable() else " " for letter in title).split())[:100]
        assert message["Subject"].replace(" ", "") == f"tropalign: pairs {shown!r} is done".replace(" ", "")


@pytest.mark.parametrize("kind", ["mail", "hook"])
@pytest.mark.parametrize("error", [RuntimeError("why"), KeyError("x"), RecursionError(), AttributeError("a")])
def test_any_failure_counts_as_a_try(monkeypatch, kind, error):
    """A hook whose call ends otherwise would be due again for ever."""

    def fails(*_args):
        raise error

    monkeypatch.setattr(notices, "message_of", fails)
    monkeypatch.setattr(notices, "_connected", fails)
    if kind == "mail":
        fault = send("ann@a.example", SERVER, JOB)
    else:
        fault = notices.call("https://chat.example/", ("chat.example",), JOB)
    assert fault.startswith(type(error).__name__)


def test_a_message_is_handed_over(post):
    assert send("mailto:ann@a.example", post.mail, JOB) == ""
    (message,) = post.messages
    assert message["Subject"] == "tropalign: pairs 'kinases' is done" and message["To"] == "ann@a.example"
    assert "Its id is id." in message.get_content()
    assert "rcpt TO:<ann@a.example>" in post.lines


def test_a_password_is_told_to_this_machine_or_by_tls_alone(post, monkeypatch):
    known = replace(post.mail, user="ann", password="secret")
    assert send("ann@a.example", known, JOB) == "" and len(post.messages) == 1
    assert "SMTPAuthenticationError" in send("ann@a.example", replace(known, password="guess"), JOB)
    monkeypatch.setattr(notices, "is_loopback", lambda host: False)
    fault = send("ann@a.example", known, JOB)
    assert fault == "ValueError: localhost does not offer TLS, and the password is sent only with TLS"
    assert "secret" not in repr(known)


def test_failures_of_a_mail_server_are_said_and_not_waited_for(post, monkeypatch):
    post.refuses = True
    assert "no such user" in send("ann@a.example", post.mail, JOB)
    assert "refused" in send("ann@a.example", replace(post.mail, port=1), JOB)
    assert send("ann@b.example", post.mail, JOB).startswith("UsageError")  # the operator has changed the rules
    monkeypatch.setattr(notices, "MAIL_SECONDS", 0.6)
    post.hangs = True
    begin = time.monotonic()
    assert send("ann@a.example", post.mail, JOB) != ""
    assert time.monotonic() - begin < 30


def test_a_messenger_writes_and_gives_up(tmp_path, post, monkeypatch, capsys):
    monkeypatch.setattr(supervisor, "HOOK_SECONDS", 0.02)
    monkeypatch.setattr("tropalign.serve.storage.job_rows.PAUSES", ())
    settings = Settings(folder=tmp_path / "served", mail=post.mail)
    with Storage.open(settings) as storage:
        writer = supervisor.Messenger(storage, settings, False)
        writer.start()
        submit(storage, key="1", hook="ann@a.example")
        run_next(storage)
        wait_until(lambda: post.messages)
        post.refuses = True
        job = submit(storage, key="2", hook="mailto:ann@a.example")
        run_next(storage)
        wait_until(lambda: list(storage.audit.entries()))
        noted = [(entry.action, entry.object, entry.detail) for entry in storage.audit.entries()]
        assert noted == [("hook given up", job.id, "a.example")]
        wait_until(lambda: f"tropalign: e-mail of job {job.id}: SMTPRecipientsRefused" in capsys.readouterr().err)
        writer.stop()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--smtp", "localhost"], "e-mail needs --smtp HOST[:PORT] and --mail-from ADDRESS: give both"),
        (["--mail-from", "t@a.example"], "e-mail needs --smtp HOST[:PORT]"),
        (
            ["--smtp", "a:b", "--mail-from", "t@a.example"],
            "is not a mail server: write localhost or smtp.example.org:587",
        ),
        (["--smtp", "a", "--mail-from", "t"], "is not an e-mail address: write it like ann@example.org"),
        (
            ["--smtp", "a", "--mail-from", "t@a", "--mail-domain", "@a"],
            "is not a domain: write example.org, or * for all",
        ),
        (["--smtp", "a", "--mail-from", "t@a", "--smtp-password-file", "x"], "requires --smtp-user: name the user"),
        (["--smtp", "a", "--mail-from", "t@a", "--smtp-user", "t"], "set TROPALIGN_SMTP_PASSWORD, or give"),
        (
            ["--smtp", "a", "--mail-from", "t@a", "--smtp-user", "t", "--smtp-password-file", "none"],
            "name a file whose first line is the password",
        ),
    ],
)
def test_options_that_lack_each_other_are_refused(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TROPALIGN_SMTP_PASSWORD", raising=False)
    assert main(["serve", "--folder", str(tmp_path / "served"), "--add-token", "ann", *words]) == 2
    assert sentence in capsys.readouterr().err
