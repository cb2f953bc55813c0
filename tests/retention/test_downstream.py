"""Telling other systems of a deletion: signed, to addresses that are not trusted, and never completed over one in silence."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
from datetime import timedelta
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.test import Client

from apps.audits.models import AuditEntry
from apps.core import clock, outward
from apps.core.errors import NotFound, NotPermitted, ValidationFailed
from apps.evidence.ingestion import accept_event
from apps.jobs.models import ProcessingJob
from apps.jobs.runner import drain
from apps.retention import layers
from apps.retention.certificates import read_certificate
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.downstream import notices
from apps.retention.downstream.delivery import DeliveryError, deliver, fault_of, signature
from apps.retention.downstream.notices import Downstream, give_up, try_again
from apps.retention.downstream.systems import NameTaken, end_system, register_system, unseal
from apps.retention.models import DownstreamNotice, DownstreamSystem
from apps.retention.reads import read_deletion
from memory_platform import urls  # noqa: F401 - loads the console's pages
from tests.evidence.drafts import draft
from tests.retention.webhook_server import webhook_server

WORDS = "the strongbox stands behind the mirror"


@pytest.fixture(autouse=True)
def _told(monkeypatch, settings, _only_evidence):
    monkeypatch.setitem(layers._layers, "downstream", Downstream())
    settings.DOWNSTREAM_INTERNAL_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(notices, "delay", lambda _attempt: timedelta(hours=1))  # work() says when


@pytest.fixture
def server():
    with webhook_server() as found:
        yield found


def register(world, url, name="crm"):
    return register_system(world.command(), name=name, url=url)


def erase(world, event_id="e-1"):
    accept_event(world.access("alice"), draft(WORDS, event_id=event_id))
    request = DeletionRequest(deletion_request_id=f"del-{event_id}", kind="event", target=event_id, reason="a private reason")
    return request_deletion(world.access("alice"), request).job_id


def work(world):
    """One attempt, whenever it would be due."""
    with world.inside():
        ProcessingJob.objects.filter(state="retry_wait").update(next_try_at=clock.now())
        DownstreamNotice.objects.filter(state="waiting").update(next_try_at=clock.now())
    drain(kinds=["deletion"])


def result(world, job_id):
    shown = read_deletion(world.access("alice"), job_id)
    layer = next(one for one in shown.layers if one.layer == "downstream")
    return shown, layer


# -- the message


@pytest.mark.requirement("DJ-05", "DJ-11")
def test_every_registered_system_is_told_what_was_deleted_and_not_what_it_said(world, server):
    made = register(world, server.url)
    job_id = erase(world)
    work(world)
    shown, layer = result(world, job_id)
    assert (shown.status, layer.status, layer.found, layer.cleared) == ("completed", "cleared", 1, 1)
    assert [copy for copy in shown.remaining_copies if copy.layer == "downstream"] == []
    [(headers, body)] = server.received
    assert headers[":line"] == "POST /hooks?from=here HTTP/1.1" and headers["content-type"] == "application/json"
    # The signature as a receiver checks it, written out (Standard Webhooks).
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(made.secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert len(key) == 32 and headers["webhook-signature"] == f"v1,{expected}"
    assert abs(int(headers["webhook-timestamp"]) - clock.now().timestamp()) < 300
    told = json.loads(body)
    assert told["type"] == "memory.deleted" and told["data"]["deletion_id"] == job_id
    assert told["data"]["target"] == {"kind": "event", "id": "e-1"} and told["data"]["events"] == ["e-1"]
    for hidden in (WORDS, "strongbox", "private reason"):
        assert hidden not in body.decode() + str(headers)


def test_the_signature_is_that_of_the_standard():
    """The example of the specification's own libraries."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    made = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


# -- systems that do not answer well


@pytest.mark.parametrize(
    ("how", "code"),
    [
        (lambda server: server.says(500), "answered_500"),
        (lambda server: server.says(410), "answered_410"),
        (lambda server: server.says(302, "Location: http://127.0.0.1:1/inside\r\n"), "answered_302"),
        (lambda server: server.is_silent, "timeout"),
        (lambda server: server.trickles, "timeout"),
        (lambda server: server.hangs_up, "unreachable"),
        (lambda server: server.talks_nonsense, "answer_no_http"),
        (lambda server: server.pours_headers, "answer_no_http"),
    ],
)
def test_whatever_a_system_does_ends_soon_and_is_no_acknowledgement(server, how, code):
    server.does(how(server))
    begun = clock.monotonic()
    with pytest.raises(DeliveryError) as failed:
        deliver(server.url, "whsec_AAAA", "msg_1", b"{}", at=clock.now(), seconds=0.5)
    assert failed.value.code in {code, "answer_no_http"} if code == "unreachable" else failed.value.code == code
    assert clock.monotonic() - begun < 5 and len(server.received) == 1


def test_a_huge_answer_is_not_read(server):
    server.does(server.floods)
    assert deliver(server.url, "whsec_AAAA", "msg_1", b"{}", at=clock.now(), seconds=5) == "answered_200"


@pytest.mark.requirement("DJ-17", "DJ-19", "DJ-20", "DJ-22")
def test_a_deletion_is_never_completed_over_a_system_that_does_not_answer(world, server):
    register(world, server.url)
    server.does(server.says(500))
    job_id = erase(world)
    work(world)
    shown, layer = result(world, job_id)
    assert (shown.status, layer.status, layer.detail) == ("retry_wait", "retry_wait", "downstream_unreached")
    assert [(one.location, one.reason) for one in shown.remaining_copies] == [("downstream/crm", "not_acknowledged")]
    with world.inside():
        ProcessingJob.objects.filter(kind="deletion").update(attempts=19)
        notice = DownstreamNotice.objects.get()
        assert (notice.attempts, notice.last_answer) == (1, "answered_500") and notice.next_try_at > notice.last_tried_at
    work(world)
    shown, layer = result(world, job_id)
    assert (shown.status, layer.status, shown.completed_at) == ("failed_requires_action", "failed", None)
    assert [one.location for one in shown.remaining_copies] == ["downstream/crm"]
    # The system is back; a person lets it go on.
    server.does(server.says(200))
    try_again(world.person_access("compliance"), notice.pk)
    work(world)
    assert result(world, job_id)[0].status == "completed"
    assert len({headers["webhook-id"] for headers, _ in server.received}) == 1 and len(server.received) == 3


@pytest.mark.requirement("DJ-11", "DJ-22")
def test_only_a_person_can_give_a_system_up_and_the_certificate_names_it(world, server):
    register(world, server.url)
    server.does(server.says(503))
    job_id = erase(world)
    work(world)
    with world.inside():
        key = DownstreamNotice.objects.get().pk
    for role in ("auditor", "operator", "reviewer"):
        with pytest.raises(NotPermitted):
            give_up(world.person_access(role), key, reason_code="switched_off")
    give_up(world.person_access("compliance"), key, reason_code="switched_off")
    with pytest.raises(NotFound):
        try_again(world.person_access("compliance"), key)
    work(world)
    assert result(world, job_id)[0].status == "completed"
    document = read_certificate(world.access("alice"), job_id).certificate
    assert {"layer": "downstream", "location": "downstream/crm", "reason": "given_up", "until": None} in document[
        "remaining_copies"
    ]
    with world.inside():
        assert AuditEntry.objects.get(verb="downstream.given_up").codes == ["switched_off"]


def test_one_that_does_not_answer_does_not_keep_the_others_from_being_told(world, server):
    with webhook_server() as other:
        register(world, server.url)
        register(world, other.url, "mailer")
        server.does(server.says(500), server.says(204))
        job_id = erase(world)
        work(world)
        assert len(other.received) == 1 and result(world, job_id)[0].status == "retry_wait"
        work(world)
        assert (len(server.received), len(other.received)) == (2, 1) and result(world, job_id)[0].status == "completed"


# -- addresses


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
    ],
)
def test_no_name_leads_inside(monkeypatch, address):
    def looked_up(_host, port, **_more):
        public = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))
        return [public, (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def never(*_args):
        raise AssertionError

    monkeypatch.setattr(outward.socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(outward.socket, "socket", never)
    with pytest.raises(DeliveryError) as failed:
        deliver("https://hooks.example.org/", "whsec_AAAA", "msg_1", b"{}", at=clock.now())
    assert failed.value.code == "address_refused"


def test_what_was_looked_up_is_what_is_spoken_to(monkeypatch):
    """A name is looked up once, so that a second answer cannot lead elsewhere."""
    looked_up, spoken_to = [], []

    def once(host, port, **_more):
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]

    class Socket(socket.socket):
        def connect(self, address):
            spoken_to.append(address)
            raise ConnectionRefusedError

    monkeypatch.setattr(outward.socket, "getaddrinfo", once)
    monkeypatch.setattr(outward.socket, "socket", Socket)
    with pytest.raises(DeliveryError) as failed:
        deliver("https://hooks.example.org/", "whsec_AAAA", "msg_1", b"{}", at=clock.now())
    assert (failed.value.code, looked_up, spoken_to) == ("unreachable", ["hooks.example.org"], [("93.184.216.34", 443)])


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://hooks.example.org/x", None),
        ("http://127.0.0.1:8080/x", None),
        ("http://hooks.example.org/x", "address_not_https"),
        ("ftp://hooks.example.org", "address_malformed"),
        ("https://user:pass@hooks.example.org/", "address_malformed"),
        ("https://hooks.example.org/#x", "address_malformed"),
        ("https:///x", "address_malformed"),
        ("https://hooks.example.org:port/", "address_malformed"),
        ("https://hooks.example.org/\r\nX-Evil: 1", "address_malformed"),
        ("https://hooks.example.org/" + "x" * 2048, "address_malformed"),
        ("file:///etc/passwd", "address_malformed"),
    ],
)
def test_addresses_that_cannot_be(url, fault):
    assert fault_of(url) == fault


# -- registering


def test_a_system_is_registered_once_its_secret_shown_once_and_kept_sealed(world, settings):
    made = register(world, "https://hooks.example.org/x")
    with pytest.raises(NameTaken):
        register(world, "https://hooks.example.org/y")
    with world.inside():
        row = DownstreamSystem.objects.get()
        assert made.secret not in row.sealed_secret and unseal(row.sealed_secret) == made.secret
        assert AuditEntry.objects.get(verb="downstream.registered").object_id == str(row.pk)
    settings.SECRET_KEY = Fernet.generate_key().decode()
    with pytest.raises(DeliveryError, match="secret_unreadable"):
        unseal(row.sealed_secret)
    for wrong in ({"name": "two words"}, {"name": ""}, {"url": "http://hooks.example.org"}):
        with pytest.raises(ValidationFailed):
            register_system(world.command(), **{"name": "other", "url": "https://hooks.example.org", **wrong})
    with pytest.raises(NotPermitted):
        register_system(world.person_access("auditor"), name="other", url="https://hooks.example.org")


def test_one_whose_registration_has_ended_is_told_of_nothing_new(world, server):
    made = register(world, server.url)
    end_system(world.command(), made.system_id)
    job_id = erase(world)
    work(world)
    shown, layer = result(world, job_id)
    assert (shown.status, layer.found, server.received) == ("completed", 0, [])
    register(world, server.url)  # the name is free again
    with pytest.raises(NotFound):
        end_system(world.command(), made.system_id)


def test_the_command_registers_lists_and_ends(world, capsys):
    def run(*arguments):
        call_command("downstream", "--tenant", "orchard", "--json", *arguments)
        return json.loads(capsys.readouterr().out)["systems"]

    [made] = run("register", "crm", "https://hooks.example.org/x")
    assert made["secret"].startswith("whsec_")
    [listed] = run("list")
    assert (listed["name"], listed["url"]) == ("crm", "https://hooks.example.org/x") and "secret" not in listed
    [ended] = run("end", made["system"])
    assert ended["ended_at"]
    for arguments, code in ((["register", "a b", "ftp://x"], 2), (["end", str(UUID(int=1))], 1)):
        with pytest.raises(CommandError) as refused:
            call_command("downstream", "--tenant", "orchard", *arguments)
        assert refused.value.returncode == code
    with pytest.raises(CommandError):
        call_command("downstream", "--tenant", "nowhere", "list")


def test_staff_register_in_the_console_and_settle_what_does_not_answer(world, server):
    staff = Client()
    staff.force_login(world.person("owner"))
    form = f"/admin/tenants/tenant/{world.tenant_id}/downstream/"
    assert "whsec_" not in staff.post(form, {"name": "crm", "url": "http://hooks.example.org"}).content.decode()
    assert "whsec_" in staff.post(form, {"name": "crm", "url": server.url}).content.decode()
    assert staff.post(form, {"name": "crm", "url": server.url}).status_code == 409
    server.does(server.says(500))
    job_id = erase(world)
    work(world)
    with world.inside():
        notice, system = DownstreamNotice.objects.get(), DownstreamSystem.objects.get()
    page = f"/admin/retention/downstreamnotice/{notice.pk}"
    assert "answered_500" in staff.get(f"{page}/change/").content.decode()
    assert staff.post(f"{page}/retry/").status_code == 200
    assert staff.post(f"{page}/retry/", {"attempts": 1}).status_code == 302
    assert staff.post(f"{page}/give_up/", {"reason": "because"}).status_code == 200
    assert staff.post(f"{page}/give_up/", {"reason": "switched_off"}).status_code == 302
    assert staff.post(f"{page}/give_up/", {"reason": "switched_off"}).status_code == 404
    end = f"/admin/retention/downstreamsystem/{system.pk}/end/"
    assert staff.post(end, {"confirmation": "mailer"}).status_code == 200
    assert staff.post(end, {"confirmation": "crm"}).status_code == 302
    assert "whsec_" not in staff.get(f"/admin/retention/downstreamsystem/{system.pk}/change/").content.decode()
    work(world)
    assert result(world, job_id)[0].status == "completed"
