"""Who asks, and from which page: tokens, sessions, proxies, origins and names of hosts."""

import stat
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from web_server import PAIR, Client, running

from tropalign.errors import UsageError
from tropalign.serve.settings import Settings
from tropalign.serve.web import access
from tropalign.serve.web.access import Hosts, networks
from tropalign.serve.web.context import Sessions

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def log_in(client, token, **headers):
    answer = client.post("/login", urlencode({"token": token, "next": "/jobs"}), headers={**FORM, **headers})
    return answer, answer.headers.get("set-cookie", "").partition(";")[0]


def own_origin(client):
    return {"Origin": f"http://127.0.0.1:{client.port}"}


def by_address(local):
    """A browser that has opened the printed address: who asks, and the headers with its cookie."""
    browser = Client(local.port)
    answer = browser.get(f"/login?token={local.token}")
    assert answer.status == 303 and answer.headers["location"] == "/"
    assert "HttpOnly" in answer.headers["set-cookie"]
    return browser, {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_the_user_of_this_machine_shows_the_token_in_the_folder(local):
    path = local.storage.files.folder.parent / "local.token"
    assert path.read_text() == f"{local.token}\n" and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert local.get("/api/v1/me").json["user"] == "local"
    browser, cookie = by_address(local)
    assert browser.get("/api/v1/me", headers=cookie).json["user"] == "local"
    assert browser.get("/", headers=cookie).status == 200
    assert local.submit()["state"] == "queued"


@pytest.mark.parametrize("headers", [{}, {"X-Forwarded-For": "127.0.0.1"}, {"Host": "localhost"}])
def test_who_comes_over_a_proxy_that_says_nothing_is_not_local(local, headers):
    """A proxy on this machine asks from 127.0.0.1, for a name of this machine."""
    stranger = Client(local.port)
    answer = stranger.get("/api/v1/me", headers=headers)
    assert answer.status == 401
    assert answer.error == "the server needs a token: send it as Authorization: Bearer TOKEN"
    assert stranger.get("/", headers=headers).headers["location"] == "/login?next=/"
    assert b"Open the address that" in stranger.get("/login", headers=headers).body


def test_a_fresh_token_ends_the_sessions_of_the_last_one(tmp_path):
    """Which somebody may have seen: the file is removed, and the server started again."""
    settings = Settings(folder=tmp_path / "served")
    with running(settings) as server:
        _, cookie = by_address(Client(server.port, server.web.local_token))
    with running(settings) as server:
        assert Client(server.port).get("/api/v1/me", headers=cookie).status == 200
    (settings.folder / "local.token").unlink()
    with running(settings) as server:
        assert Client(server.port).get("/api/v1/me", headers=cookie).status == 401


def test_an_address_with_another_token_lets_nobody_in(local, users):
    for client, token in ((local, "trop_local_" + "a" * 52), (users.stranger, users.alice.token)):
        answer = Client(client.port).get(f"/login?token={token}")
        assert answer.status == 401 and "set-cookie" not in answer.headers
        words = b"this address is no longer valid: open the one that tropalign serve printed last"
        assert words in answer.body


def test_no_user_is_taken_for_the_one_of_this_machine(users):
    """Not even one who is called so, nor by a token that an earlier start without tokens has left."""
    from tropalign.serve.private import local_token

    left = Client(users.server.port, local_token(users.server.storage.files.folder.parent))
    assert left.get("/api/v1/me").status == 401
    called_so = Client(users.server.port, users.server.storage.tokens.add("local")[1])
    assert called_so.get("/api/v1/me").json["user"] == "local"
    users.server.storage.tokens.revoke("local")
    users.server.web.storage.tokens.list()
    assert called_so.get("/api/v1/me").status == 401


def test_a_first_token_closes_the_open_door(local):
    browser, cookie = by_address(local)
    local.storage.tokens.add("alice")
    local.get("/api/v1/me")  # what is known of tokens lives some seconds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "REMEMBERED_SECONDS", 0.0)
        assert local.get("/api/v1/me").status == 401
        assert browser.get("/api/v1/me", headers=cookie).status == 401
        local.storage.tokens.revoke("alice")
        assert local.get("/api/v1/me").status == 401  # nor does it open again


def test_a_token_says_who_asks_until_it_is_revoked(users):
    assert users.alice.get("/api/v1/me").json["user"] == "alice"
    answer = users.stranger.get("/api/v1/me")
    assert answer.status == 401 and answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.error == "the server needs a token: send it as Authorization: Bearer TOKEN"
    assert users.alice.get("/api/v1/me").status == 200
    users.server.storage.tokens.revoke("alice")
    assert users.alice.get("/api/v1/me").status == 401


def test_a_session_by_its_cookie_until_logout(users):
    answer, cookie = log_in(users.stranger, users.alice.token, **own_origin(users.stranger))
    assert answer.status == 303 and answer.headers["location"] == "/jobs"
    said = answer.headers["set-cookie"]
    assert "HttpOnly" in said and "SameSite=lax" in said and "Secure" not in said
    assert users.stranger.get("/api/v1/me", headers={"Cookie": cookie}).json["user"] == "alice"
    _, cookie = log_in(users.stranger, users.alice.token, **own_origin(users.stranger))
    headers = {"Cookie": cookie, **own_origin(users.stranger)}
    assert users.stranger.post("/logout", headers=headers).status == 303
    assert users.stranger.get("/api/v1/me", headers={"Cookie": cookie}).status == 401


@pytest.mark.parametrize("where", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nX: y", ""])
def test_a_login_leads_nowhere_else(users, where):
    body = urlencode({"token": users.alice.token, "next": where})
    answer = users.stranger.post("/login", body, headers={**FORM, **own_origin(users.stranger)})
    assert answer.status == 303 and answer.headers["location"] == "/"


def test_a_cookie_needs_a_page_of_this_server_to_change_something(users):
    _, cookie = log_in(users.stranger, users.alice.token, **own_origin(users.stranger))

    def submit(**headers):
        body = {"verb": "pairs", "inputs": {"queries": [{"text": PAIR.decode(), "name": "a.fa"}]}}
        return users.stranger.post("/api/v1/jobs", body, headers={"Cookie": cookie, **headers}).status

    assert submit() == 403  # neither origin nor word
    assert submit(Origin="http://evil.example") == 403
    assert submit(Origin="null") == 403
    assert submit(**{"Sec-Fetch-Site": "cross-site"}) == 403
    assert submit(**{"Sec-Fetch-Site": "same-site"}) == 403
    assert submit(**{"X-CSRF-Token": "0" * 40}) == 403
    assert submit(**own_origin(users.stranger)) == 201
    session = users.server.web.sessions.read(cookie.partition("=")[2])
    assert submit(**{"X-CSRF-Token": users.server.web.sessions.csrf(session)}) == 201


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_of_another_page_does_not_reach_this_machine(local, kind):
    body = '{"verb": "pairs", "inputs": {"queries": [{"text": ">a\\nMK\\n>b\\nMK", "name": "a.fa"}]}}'
    browser, cookie = by_address(local)
    assert browser.post("/api/v1/jobs", body, headers={"Content-Type": kind, **cookie}).status == 403
    assert local.get("/api/v1/jobs").json["jobs"] == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_of_another_page_counts(local, site):
    body = {"verb": "pairs", "inputs": {"queries": [{"text": PAIR.decode(), "name": "a.fa"}]}}
    browser, cookie = by_address(local)

    def submit(**headers):
        return browser.post("/api/v1/jobs", body, headers={**cookie, **headers}).status

    assert submit(**{"Sec-Fetch-Site": site}) == 403
    assert submit(**{"Sec-Fetch-Site": site}, **own_origin(local)) == 403
    assert submit(**{"Sec-Fetch-Site": "same-origin"}) == 201


def test_a_form_with_its_word_is_taken(local, users):
    web = users.server.web
    _, cookie = log_in(users.stranger, users.alice.token, **own_origin(users.stranger))
    word = web.sessions.csrf(web.sessions.read(cookie.partition("=")[2]))
    answer = users.stranger.post("/logout", urlencode({"csrf": word}), headers={**FORM, "Cookie": cookie})
    assert answer.status == 303


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:99", 200), ("[::1]:80", 200), ("a.localhost", 200), ("LOCALHOST.", 200),
     ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("10.0.0.1", 421), ("", 400), ("a@b", 400)],
)  # fmt: skip
def test_names_of_hosts(local, host, status):
    assert local.get("/api/v1/me", headers={"Host": host}).status == status


def test_hosts_and_networks_of_a_server_that_others_reach():
    settings = Settings(folder=None, host="0.0.0.0", allowed_hosts=("lab.example",))
    hosts = Hosts(settings)
    assert hosts.allows("lab.example") and hosts.allows("10.0.0.1") and hosts.allows("localhost")
    assert not hosts.allows("evil.example")
    assert not Hosts(replace(settings, host="127.0.0.1")).allows("10.0.0.1")
    is_proxy = networks(["10.0.0.0/8", "::1"])
    assert is_proxy("10.9.9.9") and is_proxy("::1") and not is_proxy("11.0.0.1") and not is_proxy("proxy")
    with pytest.raises(UsageError, match=r"^--trusted-proxy proxy is not an address: give one like"):
        networks(["proxy"])


@pytest.mark.parametrize(("proxy", "user"), [("127.0.0.1", "carol"), ("10.0.0.0/8", None)])
def test_a_proxy_names_the_user_only_where_it_is_trusted(serve, proxy, user):
    client = Client(serve(proxy_user_header="X-User", trusted_proxies=(proxy,)).port)
    answer = client.get("/api/v1/me", headers={"X-User": "carol"})
    assert (answer.json.get("user") if answer.status == 200 else None) == user
    assert client.get("/api/v1/me").status == 401  # who comes by a proxy without a name is nobody
    assert user is None or client.get("/api/v1/me", headers={"X-User": "a\tb"}).status == 400


def test_a_password_that_a_proxy_asked_for_is_no_token_and_opens_no_form(serve):
    client = Client(serve(proxy_user_header="X-User", trusted_proxies=("127.0.0.1",)).port)
    headers = {"X-User": "carol", "Authorization": "Basic Y2Fyb2w6eA=="}
    assert client.get("/api/v1/me", headers=headers).json["user"] == "carol"
    for more in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, FORM):
        assert client.post("/logout", b"", headers={**headers, **more}).status == 403
    assert client.get("/api/v1/me", headers={**headers, "Authorization": "Bearer x"}).status == 401


def test_wrong_tokens_of_an_address_are_counted_and_keep_nobody_else_out(users):
    assert users.alice.get("/api/v1/me").status == 200
    forged = Client(users.server.port, "trop_" + "a" * 8 + "_" + "a" * 52)
    assert [forged.get("/api/v1/me").status for _ in range(11)] == [401] * 10 + [429]
    assert users.alice.get("/api/v1/me").status == 200


def test_a_token_that_another_process_revokes_ends_in_seconds(users, monkeypatch):
    from tropalign.serve.storage import Storage

    monkeypatch.setattr(access, "REMEMBERED_SECONDS", 0.0)
    assert users.alice.get("/api/v1/me").status == 200
    with Storage.open(Settings(folder=users.server.storage.files.folder.parent)) as other:
        other.tokens.revoke("alice")
    assert users.alice.get("/api/v1/me").status == 401


def test_what_is_not_yours_is_not_listed_and_cannot_be_shared(users):
    job = users.alice.submit()
    assert users.bob.ask("PATCH", f"/api/v1/jobs/{job['id']}", {"shared": True}).status == 404
    assert users.bob.get("/api/v1/jobs").json["jobs"] == []
    assert users.alice.get(f"/api/v1/jobs/{job['id']}").json["state"] == "queued"


def test_knowing_a_digest_is_not_having_the_file(users):
    digest = users.alice.send()
    body = {"verb": "pairs", "inputs": {"queries": [{"file": digest, "name": "a.fa"}]}}
    answer = users.bob.post("/api/v1/jobs", body)
    sentence = "the file is not here: send it first (POST /api/v1/files)"
    assert (answer.status, answer.json) == (422, {"error": sentence, "field": "inputs.queries"})
    assert users.alice.post("/api/v1/jobs", body).status == 201


def test_sessions_are_read_by_their_server_alone():
    now = 1000.0
    sessions = Sessions(b"x" * 32, lambda: now)
    cookie = sessions.cookie("id", "alice")
    assert sessions.read(cookie).user == "alice"
    assert Sessions(b"y" * 32, lambda: now).read(cookie) is None
    body, _, signature = cookie.rpartition(".")
    for forged in (body, body + ".", body + "." + signature[:-1], cookie + "=", "." + signature, cookie.upper(), "ä"):
        assert sessions.read(forged) is None
    now += 15 * 24 * 3600
    assert sessions.read(cookie) is None


def test_a_person_is_sent_to_the_login_and_back(users):
    answer = users.stranger.get("/jobs?q=a&tag=%22")
    assert answer.status == 303 and answer.headers["location"] == "/login?next=/jobs%3Fq%3Da%26tag%3D%2522"
    page = users.stranger.get(answer.headers["location"])
    assert page.status == 200 and b"csrf" in page.body and b'value="/jobs?q=a&amp;tag=%22"' in page.body
    assert users.stranger.get("/nothing").status == 303  # a stranger is not told what there is
    assert users.alice.get("/nothing").headers["Content-Type"].startswith("text/html")


def test_behind_a_proxy_with_a_path_of_its_own(serve):
    stranger = serve(root_path="/tropalign", requires_token=True, is_https=True)
    client = Client(stranger.port, stranger.storage.tokens.add("alice")[1])
    stranger.token = None
    assert client.get("/tropalign/api/v1/me").json["user"] == "alice"
    assert client.get("/api/v1/me").json["user"] == "alice"  # some proxies take the path away
    assert stranger.get("/tropalign/jobs").headers["location"] == "/tropalign/login?next=/jobs"
    answer, _ = log_in(stranger, client.token, Origin=f"https://127.0.0.1:{client.port}")
    assert answer.headers["location"] == "/tropalign/jobs"
    assert "Path=/tropalign" in answer.headers["set-cookie"] and "Secure" in answer.headers["set-cookie"]
    assert log_in(stranger, client.token, Origin=f"http://127.0.0.1:{client.port}")[0].status == 403


NOTHING = ["", {}, [], None]


def hidden(job):
    """What others' jobs do not tell an administrator."""
    return [job[name] for name in ("command", "options", "inputs", "shared")]


def test_an_administrator_stops_and_deletes_what_others_have_and_reads_nothing_of_it(users):
    jobs = [client.submit(title="Mine", options={"mode": "global"})["id"] for client in (users.alice, users.bob)]
    for path in ("/api/v1/jobs?user=*", "/api/v1/jobs?user=bob", "/api/v1/databases?user=*"):
        refused = users.alice.get(path)
        assert (refused.status, refused.json["field"]) == (403, "user")
    assert users.alice.get("/api/v1/jobs?user=alice").status == 200
    assert users.alice.post(f"/api/v1/jobs/{jobs[1]}/cancel").status == 404
    users.server.storage.users.set("alice", is_administrator=True, queued_per_user=3)
    me = users.alice.get("/api/v1/me").json
    assert me["administrator"] is True and me["limits"]["queued_per_user"] == 3
    assert [job["owner"] for job in users.alice.get("/api/v1/jobs?user=*").json["jobs"]] == ["bob", "alice"]
    users.bob.ask("PATCH", f"/api/v1/jobs/{jobs[1]}", {"shared": True})
    assert users.bob.get(f"/api/v1/jobs/{jobs[1]}").json["shared"]
    theirs, own = users.alice.get("/api/v1/jobs?user=*").json["jobs"]
    assert hidden(theirs) == NOTHING and own["command"] and own["inputs"]
    assert [job["owner"] for job in users.alice.get("/api/v1/jobs?user=bob").json["jobs"]] == ["bob"]
    for path in ("", "/files/main", "/inputs/queries/0"):
        assert users.alice.get(f"/api/v1/jobs/{jobs[1]}{path}").status == 404
    assert users.alice.ask("PATCH", f"/api/v1/jobs/{jobs[1]}", {"shared": True}).status == 404
    cancelled = users.alice.post(f"/api/v1/jobs/{jobs[1]}/cancel").json
    assert cancelled["state"] == "cancelled" and hidden(cancelled) == NOTHING
    assert all(hidden(users.bob.get(f"/api/v1/jobs/{jobs[1]}").json))
    assert users.alice.ask("DELETE", f"/api/v1/jobs/{jobs[1]}").status == 204
    noted = list(users.server.storage.audit.entries())[-1]
    assert (noted.user, noted.action, noted.detail) == ("alice", "delete", "pairs of bob")
    assert users.bob.get("/api/v1/jobs").json["jobs"] == []
