"""Certificates of deletions: signed once, the same for everybody, checked without a database (DJ-23)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from apps.core.canonical import sha256_hex
from apps.evidence.ingestion import accept_event
from apps.jobs.runner import drain
from apps.retention import signing
from apps.retention.certificates import MEMBER
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.models import DeletionCertificate, DeletionJob
from apps.retention.signing import Fault, find_fault, pem_of, public_key
from tests.evidence.drafts import draft
from tests.tenants.world import World, problem

PROJECT = Path(__file__).resolve().parent.parent.parent
SECRET_TEXT = "the strongbox stands behind the mirror"


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard")


def erase(world, event_id="e-1", *, worked_off=True) -> str:
    accept_event(world.access("alice"), draft(SECRET_TEXT, event_id=event_id))
    job_id = request_deletion(
        world.access("alice"),
        DeletionRequest(deletion_request_id=f"del-{event_id}", kind="event", target=event_id, reason="a private reason"),
    ).job_id
    if worked_off:
        drain(kinds=["deletion"])
    return job_id


def fetch(world, job_id):
    return world.alice.get(f"/memory-deletions/{job_id}/certificate")


@pytest.mark.requirement("DJ-23")
def test_a_completed_deletion_has_a_certificate_with_counts_and_no_words(world):
    job_id = erase(world)
    shown = world.alice.get(f"/memory-deletions/{job_id}").json()
    assert shown["certificate_url"] == f"/api/v1/memory-deletions/{job_id}/certificate"
    answer = fetch(world, job_id)
    assert answer.status_code == 200
    document = answer.json()["certificate"]
    assert document["job_id"] == job_id and document["completed_at"] == shown["completed_at"]
    assert document["deletion_epoch"] == shown["deletion_epoch"] and document["target"] == {"kind": "event", "id": "e-1"}
    assert [one["layer"] for one in document["layers"]] == [one["layer"] for one in shown["layers"]]
    sources = next(one for one in document["layers"] if one["layer"] == "sources")
    assert (sources["status"], sources["found"], sources["cleared"], sources["remaining"]) == ("cleared", 1, 1, 0)
    text = answer.content.decode()
    for hidden in (SECRET_TEXT, "strongbox", "private reason", sha256_hex(SECRET_TEXT)):
        assert hidden not in text


def test_the_certificate_is_issued_once(world):
    job_id = erase(world)
    first = fetch(world, job_id)
    assert first.content == fetch(world, job_id).content
    with world.inside():
        assert DeletionCertificate.objects.count() == 1


def test_a_deletion_completed_before_there_were_certificates_gets_its_own(world):
    job_id = erase(world)
    with world.inside():
        DeletionCertificate.objects.all().delete()
    assert find_fault(fetch(world, job_id).content, MEMBER, public_key())[1] is None


def test_there_is_none_before_completion_and_none_for_strangers(world):
    waiting = erase(world, worked_off=False)
    assert world.alice.get(f"/memory-deletions/{waiting}").json()["certificate_url"] is None
    problem(fetch(world, waiting), 404, "not_found")
    drain(kinds=["deletion"])
    assert fetch(world, waiting).status_code == 200
    problem(world.bob.get(f"/memory-deletions/{waiting}/certificate"), 404, "not_found")
    with world.inside():
        DeletionJob.objects.update(state=DeletionJob.State.FAILED_REQUIRES_ACTION)
    problem(fetch(world, waiting), 404, "not_found")


# -- checking one


def signed(document) -> bytes:
    value, key_id = signing.sign(document)
    return json.dumps({MEMBER: document, "signature": {"algorithm": "Ed25519", "key_id": key_id, "value": value}}).encode()


def test_every_change_of_a_certificate_is_found():
    document = {"job_id": "del_1", "layers": [{"layer": "sources", "cleared": 3}], "until": None}
    good = signed(document)
    assert find_fault(good, MEMBER, public_key()) == (document, None)
    envelope = json.loads(good)
    # Another order of members and other spaces say the same thing.
    assert find_fault(json.dumps(envelope, indent=3, sort_keys=True).encode(), MEMBER, public_key())[1] is None
    other = Ed25519PrivateKey.generate().public_key()
    assert find_fault(good, MEMBER, other)[1] is Fault.OTHER_KEY
    changed = json.loads(good)
    changed[MEMBER]["layers"][0]["cleared"] = 4
    assert find_fault(json.dumps(changed).encode(), MEMBER, public_key())[1] is Fault.ALTERED
    added = json.loads(good)
    added[MEMBER]["note"] = "and more"
    assert find_fault(json.dumps(added).encode(), MEMBER, public_key())[1] is Fault.ALTERED
    beside = {**envelope, "note": "not signed"}
    relabelled = {**envelope, "signature": {**envelope["signature"], "algorithm": "none"}}
    assert find_fault(json.dumps(beside).encode(), MEMBER, public_key())[1] is Fault.MALFORMED
    assert find_fault(json.dumps(relabelled).encode(), MEMBER, public_key())[1] is Fault.OTHER_KEY


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"null", b"\xff", b'{"certificate": 1, "signature": 2}', b"[" * 100_000])
def test_what_is_no_certificate_is_malformed(data):
    assert find_fault(data, MEMBER, public_key())[1] is Fault.MALFORMED


@pytest.mark.parametrize("secret", ["", "short", "ä" * 43, "A" * 44])
def test_a_secret_that_is_no_key_is_refused_in_words(settings, secret):
    settings.CERTIFICATE_KEY = secret
    with pytest.raises(ImproperlyConfigured, match="32 random bytes"):
        signing.private_key()


def run(*arguments, home, **more):
    # No database can be reached from here, so the command has to do without.
    environment = {
        "PATH": os.environ["PATH"],
        "MEMORY_PLATFORM_HOME": str(home),
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "CERTIFICATE_KEY": "",
        **more,
    }
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_checks_offline_with_the_public_key_alone(tmp_path, settings):
    certificate, key = tmp_path / "certificate.json", tmp_path / "key.pem"
    certificate.write_bytes(signed({"format": "memory-platform/deletion-certificate/1", "job_id": "del_1"}))
    issuer, stranger = tmp_path / "issuer", tmp_path / "stranger"
    key.write_text(run("certificate_key", home=issuer, CERTIFICATE_KEY=settings.CERTIFICATE_KEY).stdout)
    assert key.read_text() == pem_of(public_key())
    with_key = run("verify_certificate", str(certificate), "--key", str(key), home=stranger)
    assert with_key.returncode == 0 and with_key.stdout.startswith("genuine: del_1"), with_key
    own_key = run("verify_certificate", str(certificate), "--json", home=stranger)
    assert own_key.returncode == 1 and json.loads(own_key.stdout)["reason"] == "signed_with_another_key"
    assert run("verify_certificate", home=stranger).returncode == 2


def test_what_is_no_certificate_of_this_key_is_told_by_what_is_wrong(tmp_path, capsys):
    certificate, key = tmp_path / "certificate.json", tmp_path / "key.pem"
    key.write_text(pem_of(public_key()))
    genuine = signed({"format": "memory-platform/deletion-certificate/1", "job_id": "del_1"})
    for content, said in ((genuine.replace(b"del_1", b"del_2"), "altered"), (signed({"format": "other"}), "unknown_format")):
        certificate.write_bytes(content)
        with pytest.raises(SystemExit) as ended:
            call_command("verify_certificate", str(certificate), "--key", str(key), "--json")
        assert ended.value.code == 1 and said in json.loads(capsys.readouterr().out)["reason"]
    for arguments in ([str(tmp_path / "missing")], [str(certificate), "--key", str(certificate)]):
        with pytest.raises(CommandError) as refused:
            call_command("verify_certificate", *arguments)
        assert refused.value.returncode == 2


def test_the_secret_half_is_made_once_and_private(tmp_path):
    first = run("certificate_key", "--json", home=tmp_path)
    assert first.returncode == 0 and first.stdout == run("certificate_key", "--json", home=tmp_path).stdout
    secret = tmp_path / "secrets" / "certificate_key"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in first.stdout and secret.read_text() not in first.stdout
