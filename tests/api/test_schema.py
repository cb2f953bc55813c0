"""The schema of the whole API, as clients are given it."""

from __future__ import annotations

from drf_spectacular.generators import SchemaGenerator


def test_no_two_shapes_share_a_name(capsys):
    """The generator only warns on standard error; one of the two shapes would then be described as the other."""
    SchemaGenerator().get_schema(request=None, public=True)
    assert capsys.readouterr().err == ""
