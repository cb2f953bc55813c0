"""The endpoints of candidates, memories and conflicts: field limits, order of refusals, preconditions, lists (design/06)."""

from __future__ import annotations

import pytest

from tests.tenants.world import face, problem


def body(content="The lamp is warm", **fields):
    return {
        "candidate_id": f"cand-{content[:20]}",
        "scope": "user",
        "memory_type": "fact",
        "fact_key": "lamp.light",
        "content": content,
        "epistemic_status": "explicit",
        "valid_from": "2024-01-01T00:00:00Z",
    } | fields


@pytest.fixture
def made(world):
    answer = world.alice.post("/memory-candidates", body())
    assert answer.status_code == 201, answer.content
    return answer.json()


def code_at(answer, pointer):
    found = problem(answer, 422, answer.json().get("code", ""))
    return next((error["code"] for error in found["errors"] if error["pointer"] == pointer), None)


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        ({"fact_key": "x" * 201}, "/fact_key", "max_length"),
        ({"fact_key": "lamp\u200blight"}, "/fact_key", "invalid_key"),
        ({"content": "x" * 65_537}, "/content", "max_length"),
        ({"content": " "}, "/content", "blank"),
        ({"content": "a\u0000b"}, "/content", "invalid_text"),
        ({"topics": [f"t{n}" for n in range(33)]}, "/topics", "max_length"),
        ({"topics": ["feild_test"]}, "/topics/0", "unknown_label"),
        ({"conditions": {f"k{n}": 1 for n in range(33)}}, "/conditions", "max_length"),
        ({"candidate_id": "x" * 129}, "/candidate_id", "max_length"),
        ({"expected_version": "1"}, "/expected_version", "invalid_type"),
        ({"valid_from": "2024-01-01T00:00:00"}, "/valid_from", "timezone_required"),
        ({"observed_at": "2999-01-01T00:00:00Z"}, "/observed_at", "occurred_in_future"),
        ({"valid_to": "2023-01-01T00:00:00Z"}, "/valid_to", "out_of_order"),
        ({"memory_type": "finding"}, "/verdict", "required"),
        ({"memory_type": "constraint", "verdict": "supported"}, "/verdict", "invalid_choice"),
        ({"relations": [{"type": "likes", "memory_id": "mem_x"}]}, "/relations/0/type", "invalid_choice"),
        ({"relations": [{"type": "supersedes"}]}, "/relations/0/memory_id", "required"),
        ({"retention_class": "eternal"}, "/retention_class", "unknown_retention_class"),
        ({"conntent": "x"}, "/conntent", "unknown_field"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_fields_of_a_candidate_are_limited(world, fields, pointer, code):
    answer = world.alice.post("/memory-candidates", body() | fields)
    assert code_at(answer, pointer) == code
    assert world.alice.get("/memories").json()["items"] == []


def test_a_candidate_is_201_and_again_200(world):
    first, again = (world.alice.post("/memory-candidates", body()) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    problem(world.alice.post("/memory-candidates", body(rationale="else")), 409, "idempotency_key_reuse")


@pytest.mark.requirement("LB-05")
def test_a_wrong_label_is_named(world):
    answer = world.alice.post("/memory-candidates", body(topics=["field_test", "feild_test"]))
    (error,) = problem(answer, 422, "unknown_label")["errors"]
    assert (error["pointer"], "feild_test" in error["detail"]) == ("/topics/1", True)


# -- refusals in their order


@pytest.mark.requirement("ID-09", "AI-04", "AI-05", "AI-06")
@pytest.mark.parametrize(
    ("method", "tail", "sent"),
    [
        ("GET", "?version=0", None),
        ("GET", "?nonsense=1", None),
        ("GET", "/versions?limit=0", None),
        ("PATCH", "", {"content": "x"}),
        ("PATCH", "", {"nonsense": 1}),
        ("PATCH", "", {"content": "x", "reason": "x"}),
        ("POST", "/confirm", {"observed_at": "soon"}),
        ("POST", "/withdraw", {"reason": "x"}),
        ("POST", "/withdraw", {}),
        ("DELETE", "?nonsense=1", None),
    ],
)
def test_a_stranger_is_told_nothing_about_what_is_wrong(world, made, method, tail, sent):
    mine = world.alice.send(method, f"/memories/{made['memory_id']}{tail}", sent)
    assert mine.status_code in (422, 428)
    bobs = world.bob.send(method, f"/memories/{made['memory_id']}{tail}", sent)
    never = world.bob.send(method, f"/memories/mem_00000000000000000000000000{tail}", sent)
    problem(bobs, 404, "not_found")
    assert face(bobs) == face(never)


@pytest.mark.requirement("VH-10")
def test_changes_need_a_precondition_and_answers_carry_one(world, made):
    path = f"/memories/{made['memory_id']}"
    assert world.alice.get(path)["ETag"] == '"v1"'
    problem(world.alice.patch(path, {"content": "cold", "reason": "x"}), 428, "precondition_required")
    problem(world.alice.post(f"{path}/withdraw", {"reason": "x"}), 428, "precondition_required")
    done = world.alice.patch(path, {"content": "cold", "reason": "x"}, **{"If-Match": '"v1"'})
    assert (done.status_code, done["ETag"], done.json()["version"]) == (200, '"v2"', 2)
    late = world.alice.patch(path, {"content": "gone", "reason": "x", "expected_version": 1})
    assert problem(late, 409, "version_conflict")["current_version"] == 2


@pytest.mark.parametrize("field", ["scope", "scope_id", "memory_type", "fact_key"])
def test_what_makes_a_memory_this_one_never_changes(world, made, field):
    answer = world.alice.patch(
        f"/memories/{made['memory_id']}", {"expected_version": 1, "reason": "x", "content": "cold", field: "project"}
    )
    problem(answer, 422, "immutable_field")
    assert world.alice.get(f"/memories/{made['memory_id']}").json()["version"] == 1


def test_a_revision_with_a_secret_is_refused_without_it(world, made):
    sent = {"expected_version": 1, "reason": "x", "content": "The password is hunter-Zq7uR4Lmw9"}
    answer = world.alice.patch(f"/memories/{made['memory_id']}", sent)
    problem(answer, 422, "forbidden_material")
    assert "hunter" not in answer.content.decode()


def test_an_idempotency_key_makes_a_revision_once(world, made):
    path, key = f"/memories/{made['memory_id']}", {"Idempotency-Key": "k-1"}
    sent = {"expected_version": 1, "reason": "x", "content": "cold"}
    first, again = (world.alice.patch(path, sent, **key) for _ in range(2))
    assert first.json() == again.json()
    assert again["ETag"] == '"v2"'
    assert len(world.alice.get(f"{path}/versions").json()["items"]) == 2
    problem(world.alice.patch(path, sent | {"content": "gone"}, **key), 409, "idempotency_key_reuse")


# -- lists


def test_memories_are_narrowed_by_what_they_are(world, made):
    assert world.alice.post("/memory-candidates", body("Learn", memory_type="goal", topics=["field_test"])).status_code == 201

    def found(query):
        return [row["content"] for row in world.alice.get(f"/memories?{query}").json()["items"]]

    assert found("type=goal") == found("topic=field_test") == ["Learn"]
    assert found("fact_key=LAMP.Light&type=fact") == ["The lamp is warm"]
    assert found("scope=user") == found("scope_id=alice") == ["Learn", "The lamp is warm"]
    assert found(f"updated_since_revision={made['revision']}") == ["Learn"]
    assert found("scope=project&scope_id=kiosk") == found("state=withdrawn") == []
    problem(world.alice.get("/memories?scope=project&scope_id=lighthouse"), 404, "not_found")
    for query in ("state=asleep", "type=thought", "scope=galaxy", "updated_since_revision=yesterday", "limit=0"):
        problem(world.alice.get(f"/memories?{query}"), 422, "validation_failed")


@pytest.mark.requirement("RK-15", "RY-05")
def test_pages_neither_repeat_nor_skip(world):
    for number in range(7):
        world.alice.post("/memory-candidates", body(f"Berth {number}", fact_key=f"berth.{number}"))
    seen, cursor = [], ""
    while cursor is not None:
        answer = world.alice.get(f"/memories?limit=3{f'&cursor={cursor}' if cursor else ''}").json()
        seen += [row["content"] for row in answer["items"]]
        cursor = answer["next_cursor"]
        world.alice.post("/memory-candidates", body(f"Late {len(seen)}", fact_key=f"late.{len(seen)}"))
    assert seen == [f"Berth {number}" for number in range(6, -1, -1)]


def test_a_conflict_is_shown_to_those_who_see_its_values(world, made):
    second = world.alice.post("/memory-candidates", body("The lamp is cold")).json()
    assert second["status"] == "conflict"
    (row,) = world.alice.get("/memory-conflicts").json()["items"]
    shown = world.alice.get(f"/memory-conflicts/{second['conflict_id']}").json()
    assert row == shown
    assert (shown["reason"], shown["ask"], shown["status"]) == ("equal_time", "verify", "open")
    assert [one["content"] for one in shown["members"]] == ["The lamp is warm", "The lamp is cold"]
    assert world.bob.get("/memory-conflicts").json()["items"] == []
    problem(world.bob.get(f"/memory-conflicts/{second['conflict_id']}"), 404, "not_found")


@pytest.mark.requirement("TM-11", "VH-01", "VH-02")
def test_a_memory_shows_what_it_is_and_when(world, made):
    shown = world.alice.get(f"/memories/{made['memory_id']}").json()
    expected = {
        "schema_version": 1,
        "scope": "user",
        "scope_id": "alice",
        "memory_type": "fact",
        "fact_key": "lamp.light",
        "state": "active",
        "version": 1,
        "valid_from": "2024-01-01T00:00:00Z",
        "valid_to": None,
        "stated_by": "alice",
        "origin": "api",
        "retention_class": "engineering_knowledge",
        "deletion_epoch": 0,
        "relations": [],
    }
    assert {name: shown[name] for name in expected} == expected
    problem(world.alice.get(f"/memories/{made['memory_id']}?as_of=2023-01-01"), 404, "not_found")
    problem(world.alice.get(f"/memories/{made['memory_id']}?version=2"), 404, "not_found")


def test_deleting_by_path_and_by_body_are_one(world, made):
    path = f"/memories/{made['memory_id']}?deletion_request_id=del-1&reason=gone"
    first, again = world.alice.delete(path), world.alice.delete(path)
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["job_id"] == again.json()["job_id"]
    gone = problem(world.alice.get(f"/memories/{made['memory_id']}"), 410, "revoked")
    assert gone["deletion_job_id"] == first.json()["job_id"]
