"""`chatlint card` and `chatlint vectors`."""

from __future__ import annotations

import json


def test_a_card(chatlint):
    done = chatlint("card", "corpus:qwen3", "--heading", "3")
    assert (done.status, done.err) == (0, "")
    assert "\n### Chat template\n" in done.out
    assert chatlint("card", "corpus:nothing").status == 3
    assert chatlint("card", "corpus:qwen3", "--heading", "9").status == 2


def test_vectors_of_every_host(chatlint):
    done = chatlint("vectors", "corpus:chatml", "--host", "all")
    assert (done.status, done.err) == (0, "")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert {vector["host"] for vector in found} >= {"transformers-5.24", "transformers-4.57"}
    assert len({vector["id"] for vector in found}) == len(found)
    one = chatlint("vectors", "corpus:chatml").out
    assert {json.loads(line)["host"] for line in one.splitlines()} == {"transformers-5.24"}
    assert chatlint("vectors", "corpus:chatml", "--host", "x").status == 2
    assert json.loads(chatlint("schema", "vector").out)["title"] == "chatlint.vector/1"
