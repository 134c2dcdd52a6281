"""Which of a repository's GGUFs is meant.

Quantizations of one model differ in weights, not in metadata, so one is read unless all are asked for. The
default is llama.cpp's for `-hf` (common/download.cpp, 2026-10): Q4_K_M, else the first file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.source.gguf_facts import first_part, is_side_file
from chatlint.text import visible

ALL = "*"
_DEFAULT = "Q4_K_M"
_QUANT = regex(
    r"(?:^|[-._])((?:UD-)?(?:I?Q\d\w*|TQ\d\w*|BF16|F16|F32|FP16|FP32|MXFP4\w*|NVFP4\w*))(?=[-._]|$)", re.I
)
_SHOWN = 12


def models_among(paths: Sequence[str]) -> list[str]:
    """The GGUFs that are models, split ones by their first part; projectors and matrices left out."""
    ggufs = [path for path in paths if path.lower().endswith(".gguf") and not is_side_file(path)]
    return sorted(dict.fromkeys(first_part(path) for path in ggufs), key=lambda path: (path.count("/"), path))


def chosen_models(paths: Sequence[str], wanted: str) -> list[str]:
    """The GGUFs that `wanted` names: a path, a file's name, a quantization in any case, `*` for all, or ""
    for the default. Raises TargetError, with what there is, if it names none."""
    models = models_among(paths)
    if wanted == ALL:
        return models
    if not wanted:
        return (_of_quantization(models, _DEFAULT) or models)[:1]
    if wanted in paths and is_side_file(wanted):
        return [wanted]  # its metadata says what it is, and the reader refuses it in words
    named = [path for path in models if first_part(wanted) in (path, path.rpartition("/")[2])]
    found = named or _of_quantization(models, wanted)
    if not found:
        raise TargetError(f"no GGUF {visible(wanted)} in the repository", hint=_known(models))
    return found[:1]


def quantization(path: str) -> str:
    """The quantization that a file's name, or the folder it is in, names; "" if none."""
    folder, _, name = path.rpartition("/")
    for text in (re.sub(r"(?:-\d{5}-of-\d{5})?\.gguf$", "", name, flags=re.I), folder):
        found = _QUANT.findall(text)
        if found:
            return str(found[-1])
    return ""


def _of_quantization(models: Sequence[str], wanted: str) -> list[str]:
    wanted = wanted.lower()
    exact = [path for path in models if quantization(path).lower() == wanted]
    return exact or [path for path in models if quantization(path).lower().removeprefix("ud-") == wanted]


def _known(models: Sequence[str]) -> str:
    names = list(dict.fromkeys(quantization(path) or path for path in models))
    if not names:
        return "it holds no GGUF; leave out what follows the colon"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"it has {', '.join(map(visible, names[:_SHOWN]))}{more}"
