"""`chatlint serve-check`."""

from __future__ import annotations

import json

from tests.serve_check.servers import TEMPLATE, llama_server, vllm_server


def test_a_server_that_agrees(chatlint, httpserver):
    run = chatlint("serve-check", llama_server(httpserver))
    assert (run.status, run.err) == (0, "")
    assert "nothing differs" in run.out
    assert (
        json.loads(chatlint("serve-check", httpserver.url_for(""), "--format", "json").out)["host"]
        == "llama.cpp"
    )


def test_a_target(chatlint, httpserver, tmp_path):
    file = tmp_path / "t.jinja"
    file.write_text(TEMPLATE.replace("{{ bos_token }}", "<s>"))
    assert chatlint("serve-check", vllm_server(httpserver), "--target", str(file)).status == 0
    file.write_text(TEMPLATE.replace("<|end|>", "<|eot|>"))
    changed = chatlint("serve-check", httpserver.url_for(""), "--target", str(file))
    assert changed.status == 1
    assert "the server differs" in changed.out


def test_error_statuses(chatlint, httpserver):
    url = vllm_server(httpserver)
    nameless = chatlint("serve-check", url)
    assert nameless.status == 2
    assert "--target" in nameless.err
    assert chatlint("serve-check", "ftp://x").status == 2
    assert chatlint("serve-check", "http://127.0.0.1:9", "--target", "corpus:chatml").status == 3
    assert chatlint("serve-check", url, "--target", "corpus:nothing").status == 3
    assert chatlint("serve-check", url, "--key-env", "NO_SUCH_NAME").status == 2
    assert chatlint("serve-check", url, "--format", "yaml").status == 2
