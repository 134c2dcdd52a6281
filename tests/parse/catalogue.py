"""The output formats of `facts/formats.json`, written down by hand: id → format, and what its example says."""

from __future__ import annotations

from dataclasses import dataclass, field

from chatlint.parse.formats import (
    Content,
    Encoding,
    Items,
    Marks,
    Members,
    OutputFormat,
    Reasoning,
    Syntax,
    ToolCalls,
    Values,
    Written,
)

JSON_BODY = '{"name": "⟨name⟩", "arguments": ⟨arguments⟩}'
PARAMETERS = '{"name": "⟨name⟩", "parameters": ⟨arguments⟩}'
PARIS = ("get_weather", {"city": "Paris", "days": 3})
ROME = ("get_weather", {"city": "Rome", "days": 2})
TEXT = Syntax.TEXT
THINK = Reasoning("<think>\n", "\n</think>\n\n")
PYTHON_VALUES = Values(
    string=Written(encoding=Encoding.PYTHON), integer=Written(encoding=Encoding.PYTHON),
    number=Written(encoding=Encoding.PYTHON), boolean=Written(encoding=Encoding.PYTHON),
    null=Written(encoding=Encoding.PYTHON), array=Written(encoding=Encoding.PYTHON),
    object=Written(encoding=Encoding.PYTHON),
)  # fmt: skip
KEYWORDS = Members("⟨key⟩=⟨value⟩", separator=", ")


@dataclass(frozen=True)
class Example:
    """What an example must read as: calls as (name, arguments), ids as they come."""

    calls: tuple = (PARIS, ROME)
    content: str = ""
    reasoning: str = ""
    ids: tuple = ()
    generation_prompt: str = ""


@dataclass(frozen=True)
class Entry:
    """A format and its example."""

    output: OutputFormat
    example: Example = field(default_factory=Example)


def _labelled(string: str, other: str, end: str = "") -> Values:
    """Values told apart by two labels."""
    rest = {
        name: Written(other, end, Encoding.JSON)
        for name in ("integer", "number", "boolean", "null", "array", "object")
    }
    return Values(string=Written(string, end), **rest)


def _dsml(token: str, section: str, space: str = "") -> OutputFormat:
    """Elements with names in attributes and a label for strings."""
    tag = f"｜{token}｜{space}"
    return OutputFormat(
        header="<｜Assistant｜>",
        reasoning=Reasoning("<think>", "</think>"),
        tool_calls=ToolCalls(
            section_start=f"\n\n<{tag}{section}>\n", section_end=f"</{tag}{section}>", separator="\n", syntax=TEXT,
            call_start=f'<{tag}invoke name="', body='⟨name⟩">\n⟨arguments⟩', call_end=f"</{tag}invoke>\n",
            members=Members(f'<{tag}parameter name="⟨key⟩" string="⟨value⟩</{tag}parameter>\n'),
            values=_labelled('true">', 'false">'),
        ),
        end_of_turn=("<｜end▁of▁sentence｜>",),
    )  # fmt: skip


def _qwen(start: str, end: str, line: str = "\n", **rest: object) -> OutputFormat:
    """<function=…><parameter=…> elements inside tags."""
    return OutputFormat(
        header="<|im_start|>assistant\n",
        tool_calls=ToolCalls(
            call_start=f"{start}{line}<function=", body=f"⟨name⟩>{line}⟨arguments⟩", syntax=TEXT, separator="\n",
            call_end=f"</function>{line}{end}",
            members=Members(f"<parameter=⟨key⟩>{line}⟨value⟩{line}</parameter>{line}"),
        ),
        end_of_turn=("<|im_end|>",),
        **rest,
    )  # fmt: skip


def _pairs(call: str, key: str, value: str, *, after_name: str, line: str, **rest: object) -> ToolCalls:
    """Name, then key and value in tags of their own."""
    return ToolCalls(
        call_start=f"<{call}>", body=f"⟨name⟩{after_name}⟨arguments⟩", call_end=f"</{call}>", syntax=TEXT,
        separator="\n", members=Members(f"<{key}>⟨key⟩</{key}>{line}<{value}>⟨value⟩</{value}>{line}"), **rest,
    )  # fmt: skip


def _invoke(prefix: str, parameter: str, **rest: object) -> ToolCalls:
    """<invoke name="…"><parameter name="…">, values raw."""
    return ToolCalls(
        call_start=f'<{prefix}invoke name="', body='⟨name⟩">\n⟨arguments⟩', call_end=f"</{prefix}invoke>\n", syntax=TEXT,
        members=Members(f'<{parameter} name="⟨key⟩">⟨value⟩</{parameter}>\n'), **rest,
    )  # fmt: skip


M3 = "]<]minimax[>["
_BRACES = Members("⟨key⟩:⟨value⟩", separator=",", start="{", end="}")
_QUOTE = '<|"|>'

CATALOGUE: dict[str, Entry] = {
    "hermes_json": Entry(
        OutputFormat(
            header="<|im_start|>assistant\n", reasoning=THINK,
            tool_calls=ToolCalls(call_start="<tool_call>\n", call_end="\n</tool_call>", separator="\n", body=JSON_BODY),
            end_of_turn=("<|im_end|>",),
        ), Example(content="Hi"),
    ),
    "hermes_json_compact": Entry(
        OutputFormat(tool_calls=ToolCalls(call_start="<tool_call>", call_end="</tool_call>", body=JSON_BODY)), Example((PARIS,)),
    ),
    "qwen_xml": Entry(_qwen("<tool_call>", "</tool_call>", reasoning=THINK), Example(content="Hi")),
    "mimo_xml": Entry(_qwen("<tool_call>", "</tool_call>", ""), Example((PARIS,))),
    "seed_oss": Entry(_qwen("<seed:tool_call>", "</seed:tool_call>", reasoning=Reasoning("<seed:think>", "</seed:think>")), Example((PARIS,))),
    "glm45_xml_kv": Entry(
        OutputFormat(
            header="<|assistant|>", reasoning=THINK, end_of_turn=("<|user|>", "<|observation|>"),
            tool_calls=_pairs("tool_call", "arg_key", "arg_value", after_name="\n", line="\n"),
        ), Example(content="Hi"),
    ),
    "glm47_xml_kv": Entry(
        OutputFormat(reasoning=THINK, tool_calls=_pairs("tool_call", "arg_key", "arg_value", after_name="", line="")),
    ),
    "spark25_xml_kv": Entry(
        OutputFormat(
            tool_calls=ToolCalls(
                call_start="<tool_call>", body="⟨name⟩\n⟨arguments⟩", call_end="\n</tool_call>", syntax=TEXT, separator="\n",
                members=Members("<arg_key>⟨key⟩</arg_key><arg_value>⟨value⟩</arg_value>"),
            )
        ), Example((PARIS,)),
    ),
    "iquest_q1": Entry(
        OutputFormat(tool_calls=_pairs("iquest_tool_call", "arg_key", "arg_value", after_name="", line="")), Example((PARIS,)),
    ),
    "hunyuan_v3": Entry(
        OutputFormat(
            tool_calls=_pairs(
                "tool_call", "arg_key", "arg_value", after_name="<tool_sep>\n", line="\n",
                section_start="<tool_calls>\n", section_end="\n</tool_calls>",
            )
        ), Example(content="Hi"),
    ),
    "hunyuan_v4": Entry(
        OutputFormat(
            tool_calls=_pairs(
                "tool_call", "arg_key", "arg_value", after_name="", line="", section_start="<tool_calls>", section_end="</tool_calls>",
            )
        ), Example((PARIS,)),
    ),
    "k2_horizon": Entry(
        OutputFormat(
            reasoning=Reasoning("<ifm|think>", "</ifm|think>", (Marks("<ifm|think_fast>", "</ifm|think_fast>"),)),
            tool_calls=_pairs(
                "ifm|tool_call", "ifm|arg_key", "ifm|arg_value", after_name="", line="",
                section_start="<ifm|tool_calls>", section_end="</ifm|tool_calls>",
            ),
        ), Example((PARIS,)),
    ),
    "llama3_json": Entry(
        OutputFormat(tool_calls=ToolCalls(body=PARAMETERS, separator="; "), end_of_turn=("<|eot_id|>", "<|eom_id|>")), Example((PARIS,)),
    ),
    "pythonic": Entry(
        OutputFormat(
            tool_calls=ToolCalls(
                section_start="[", section_end="]", separator=", ", body="⟨name⟩(⟨arguments⟩", call_end=")", syntax=TEXT,
                members=KEYWORDS, values=PYTHON_VALUES,
            )
        ),
    ),
    "olmo3_pythonic": Entry(
        OutputFormat(
            tool_calls=ToolCalls(
                section_start="<function_calls>\n", section_end="\n</function_calls>", separator="\n",
                body="⟨name⟩(⟨arguments⟩", call_end=")", syntax=TEXT, members=KEYWORDS, values=PYTHON_VALUES,
            )
        ),
    ),
    "lfm2_pythonic": Entry(
        OutputFormat(
            header="<|im_start|>assistant\n",
            tool_calls=ToolCalls(
                section_start="<|tool_call_start|>[", section_end="]<|tool_call_end|>", separator=", ",
                body="⟨name⟩(⟨arguments⟩", call_end=")", syntax=TEXT, members=KEYWORDS, values=PYTHON_VALUES,
            ), end_of_turn=("<|im_end|>",),
        ), Example(content="Hi"),
    ),
    "mistral_json_list": Entry(
        OutputFormat(
            tool_calls=ToolCalls(
                section_start="[TOOL_CALLS] [", section_end="]", separator=", ",
                body='{"name": "⟨name⟩", "arguments": ⟨arguments⟩, "id": "⟨id⟩"}',
            ), end_of_turn=("</s>",),
        ), Example(ids=("abcdef123", "abcdef124")),
    ),
    "mistral_v11_args": Entry(
        OutputFormat(
            reasoning=Reasoning("[THINK]", "[/THINK]"),
            tool_calls=ToolCalls(call_start="[TOOL_CALLS]", body="⟨name⟩[CALL_ID]⟨id⟩[ARGS]⟨arguments⟩", syntax=TEXT),
            end_of_turn=("</s>",),
        ), Example(content="Hi"),
    ),
    "deepseek_v3": Entry(
        OutputFormat(
            header="<｜Assistant｜>", reasoning=Reasoning("<think>\n", "\n</think>\n\n"),
            tool_calls=ToolCalls(
                section_start="<｜tool▁calls▁begin｜>", section_end="<｜tool▁calls▁end｜>", separator="\n", syntax=TEXT,
                call_start="<｜tool▁call▁begin｜>function<｜tool▁sep｜>", body="⟨name⟩\n```json\n⟨arguments⟩",
                call_end="\n```<｜tool▁call▁end｜>",
            ), end_of_turn=("<｜end▁of▁sentence｜>",),
        ),
    ),
    "deepseek_v31": Entry(
        OutputFormat(
            header="<｜Assistant｜>", reasoning=Reasoning("<think>", "</think>"),
            tool_calls=ToolCalls(
                section_start="<｜tool▁calls▁begin｜>", section_end="<｜tool▁calls▁end｜>", syntax=TEXT,
                call_start="<｜tool▁call▁begin｜>", body="⟨name⟩<｜tool▁sep｜>⟨arguments⟩", call_end="<｜tool▁call▁end｜>",
            ), end_of_turn=("<｜end▁of▁sentence｜>",),
        ), Example(content="Hi"),
    ),
    "deepseek_v32_dsml": Entry(_dsml("DSML", "function_calls"), Example(content="Hi")),
    "deepseek_v4_dsml": Entry(_dsml("DSML", "tool_calls"), Example(content="Hi")),
    "deepseek_v41_dsml": Entry(_dsml("DSML", "calls", " "), Example(content="Hi")),
    "gigachat35_gcml": Entry(_dsml("GCML", "tool_calls"), Example(content="Hi")),
    "gigachat3": Entry(
        OutputFormat(
            header="assistant<|role_sep|>\n", end_of_turn=("<|message_sep|>\n\n",),
            tool_calls=ToolCalls(call_start="<|message_sep|>\n\nfunction call<|role_sep|>\n", body=JSON_BODY, parallel=False),
        ), Example((PARIS,), content="Hi"),
    ),
    "kimi_k2": Entry(
        OutputFormat(
            header="<|im_assistant|>assistant<|im_middle|>", end_of_turn=("<|im_end|>",),
            reasoning=Reasoning("<think>", "</think>", guess=True),
            tool_calls=ToolCalls(
                section_start="<|tool_calls_section_begin|>", section_end="<|tool_calls_section_end|>", syntax=TEXT,
                call_start="<|tool_call_begin|>", body="⟨id⟩<|tool_call_argument_begin|>⟨arguments⟩",
                call_end="<|tool_call_end|>", id="functions.⟨name⟩:⟨n⟩",
            ),
        ), Example(content="Hi", ids=("functions.get_weather:0", "functions.get_weather:1")),
    ),
    "kimi_k3_xtml": Entry(
        OutputFormat(
            header="<|open|>message role=\"assistant\"<|sep|>",
            reasoning=Reasoning("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
            content=Content("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
            tool_calls=ToolCalls(
                section_start="<|open|>tools<|sep|>", section_end="<|close|>tools<|sep|>", syntax=TEXT,
                call_start='<|open|>call tool="', body='⟨name⟩" index="⟨n⟩"<|sep|>⟨arguments⟩', call_end="<|close|>call<|sep|>",
                members=Members('<|open|>argument key="⟨key⟩" type="⟨value⟩<|close|>argument<|sep|>'),
                values=Values(
                    string=Written('string"<|sep|>'), integer=Written('number"<|sep|>', "", Encoding.JSON),
                    number=Written('number"<|sep|>', "", Encoding.JSON), boolean=Written('boolean"<|sep|>', "", Encoding.JSON),
                    null=Written('null"<|sep|>', "", Encoding.JSON), array=Written('array"<|sep|>', "", Encoding.JSON),
                    object=Written('object"<|sep|>', "", Encoding.JSON),
                ),
            ), end_of_turn=("<|close|>message<|sep|>", "<|end_of_msg|>"),
        ), Example(content="Hi"),
    ),
    "harmony": Entry(
        OutputFormat(
            header="<|start|>assistant", header_end="<|message|>",
            reasoning=Reasoning("<|channel|>analysis<|message|>", "<|end|>"),
            content=Content("<|channel|>final<|message|>", "", (Marks("<|channel|>commentary<|message|>", "<|end|>"),)),
            tool_calls=ToolCalls(
                call_start=" to=functions.", body="⟨name⟩<|channel|>commentary json<|message|>⟨arguments⟩", call_end="<|call|>",
                syntax=TEXT, parallel=False,
            ), end_of_turn=("<|return|>", "<|call|>"), end_of_message=("<|end|>",),
        ), Example((PARIS,), reasoning="t"),
    ),
    "minimax_m2": Entry(
        OutputFormat(
            header="]~b]ai\n", reasoning=THINK, end_of_turn=("[e~[",),
            tool_calls=_invoke("", "parameter", section_start="\n<minimax:tool_call>\n", section_end="</minimax:tool_call>"),
        ), Example(content="Hi"),
    ),
    "minimax_m3": Entry(
        OutputFormat(
            reasoning=Reasoning("<mm:think>", "</mm:think>"),
            tool_calls=ToolCalls(
                section_start=f"{M3}<tool_call>\n", section_end=f"{M3}</tool_call>", syntax=TEXT,
                call_start=f'{M3}<invoke name="', body='⟨name⟩">⟨arguments⟩', call_end=f"{M3}</invoke>\n",
                members=Members(f"{M3}<⟨key⟩>⟨value⟩{M3}</⟨key⟩>"),
                values=Values(array=Items(f"{M3}<item>⟨value⟩{M3}</item>"), object=Members(f"{M3}<⟨key⟩>⟨value⟩{M3}</⟨key⟩>")),
            ),
        ), Example((PARIS,), content="Hi"),
    ),
    "minicpm5_xml": Entry(
        OutputFormat(
            reasoning=THINK,
            tool_calls=ToolCalls(
                call_start='<function name="', body='⟨name⟩">⟨arguments⟩', call_end="</function>", syntax=TEXT,
                members=Members('<param name="⟨key⟩">⟨value⟩</param>'),
            ),
        ), Example((PARIS,)),
    ),
    "dots": Entry(
        OutputFormat(tool_calls=_invoke("", "parameter", section_start="<dots_function_call>\n", section_end="</dots_function_call>")),
        Example((PARIS,)),
    ),
    "muse_atem": Entry(
        OutputFormat(
            header="<|start|>assistant", header_end="<|message|>", end_of_turn=("<|eot|>",), end_of_message=("<|eom|>",),
            reasoning=Reasoning(" to=self<|message|>", "<|eom|>"), content=Content(" to=user<|message|>"),
            tool_calls=ToolCalls(
                call_start=" to=", syntax=TEXT, call_end="</atem:invoke>\n</atem:function_calls>",
                body='⟨name⟩<|message|><atem:function_calls>\n<atem:invoke name="⟨name⟩">\n⟨arguments⟩',
                members=Members('<atem:parameter name="⟨key⟩">⟨value⟩</atem:parameter>\n'),
            ),
        ), Example((PARIS,), reasoning="t"),
    ),
    "gemma4": Entry(
        OutputFormat(
            header="<|turn>model\n", reasoning=Reasoning("<|channel>thought\n", "<channel|>"), end_of_turn=("<turn|>\n",),
            tool_calls=ToolCalls(
                call_start="<|tool_call>call:", body="⟨name⟩{⟨arguments⟩", call_end="}<tool_call|>", syntax=TEXT,
                members=Members("⟨key⟩:⟨value⟩", separator=","),
                values=Values(
                    string=Written(_QUOTE, _QUOTE), array=Items("⟨value⟩", separator=",", start="[", end="]"), object=_BRACES,
                ),
            ),
        ), Example(content="Hi"),
    ),
    "functiongemma": Entry(
        OutputFormat(
            tool_calls=ToolCalls(
                call_start="<start_function_call>call:", body="⟨name⟩{⟨arguments⟩", call_end="}<end_function_call>", syntax=TEXT,
                members=Members("⟨key⟩:⟨value⟩", separator=","), values=_labelled("<escape>", "<escape>", "<escape>"),
            )
        ), Example((PARIS,)),
    ),
    "cohere_command3": Entry(
        OutputFormat(
            header="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", end_of_turn=("<|END_OF_TURN_TOKEN|>",),
            reasoning=Reasoning("<|START_THINKING|>", "<|END_THINKING|>"), content=Content("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
            tool_calls=ToolCalls(
                section_start="<|START_ACTION|>[\n    ", section_end="\n]<|END_ACTION|>", separator=",\n    ",
                body='{"tool_call_id": "⟨id⟩", "tool_name": "⟨name⟩", "parameters": ⟨arguments⟩}',
            ),
        ), Example(ids=("0", "1")),
    ),
    "apertus": Entry(
        OutputFormat(
            reasoning=Reasoning("<|inner_prefix|>", "<|inner_suffix|>"), end_of_turn=("<|assistant_end|>",),
            tool_calls=ToolCalls(
                section_start="<|tools_prefix|>[", section_end="]<|tools_suffix|>", separator=", ", body='{"⟨name⟩": ⟨arguments⟩}',
            ),
        ),
    ),
    "ernie45": Entry(
        OutputFormat(
            header="<|im_start|>assistant\n", reasoning=Reasoning("<think>\n", "\n</think>\n\n"),
            content=Content("<response>\n", "\n</response>\n"),
            tool_calls=ToolCalls(call_start="<tool_call>\n", call_end="\n</tool_call>\n", body=JSON_BODY),
        ), Example((PARIS,), reasoning="t", generation_prompt="<|im_start|>assistant\n<think>\n"),
    ),
    "granite3": Entry(
        OutputFormat(tool_calls=ToolCalls(section_start="<|tool_call|>[", section_end="]", separator=", ", body=JSON_BODY)),
    ),
    "granite20b_fc": Entry(
        OutputFormat(tool_calls=ToolCalls(call_start="<function_call> ", separator="\n", body=JSON_BODY)),
    ),
    "json_list_tool_calls": Entry(
        OutputFormat(
            reasoning=Reasoning("<think>\n", "\n</think>\n"), content=Content("<answer>\n", "\n</answer>"),
            tool_calls=ToolCalls(section_start="<tool_calls>[", section_end="]</tool_calls>", separator=", ", body=JSON_BODY),
        ),
    ),
    "internlm": Entry(
        OutputFormat(
            tool_calls=ToolCalls(call_start="<|action_start|><|plugin|>\n", call_end="<|action_end|>", body=PARAMETERS),
            end_of_turn=("<|im_end|>",),
        ), Example((PARIS,), content="Hi"),
    ),
    "internlm_spaced": Entry(
        OutputFormat(tool_calls=ToolCalls(call_start="<|action_start|> <|plugin|>\n", call_end="<|action_end|>", body=PARAMETERS)),
        Example((PARIS,), content="Hi"),
    ),
    "longcat": Entry(
        OutputFormat(tool_calls=ToolCalls(call_start="<longcat_tool_call>\n", call_end="\n</longcat_tool_call>", body=JSON_BODY)),
        Example((PARIS,)),
    ),
    "phi4_mini": Entry(
        OutputFormat(
            tool_calls=ToolCalls(section_start="functools[", section_end="]", separator=", ", body=JSON_BODY), end_of_turn=("<|end|>",),
        ),
    ),
    "plamo3": Entry(
        OutputFormat(
            reasoning=Reasoning("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
            tool_calls=ToolCalls(
                section_start="<|plamo:begin_tool_requests:plamo|>", section_end="<|plamo:end_tool_requests:plamo|>", syntax=TEXT,
                call_start="<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>",
                body="⟨name⟩<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>⟨arguments⟩",
                call_end="<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
            ),
        ),
    ),
    "step3": Entry(
        OutputFormat(
            reasoning=THINK,
            tool_calls=ToolCalls(
                section_start="<｜tool_calls_begin｜>", section_end="<｜tool_calls_end｜>", syntax=TEXT,
                call_start='<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="', body='⟨name⟩">⟨arguments⟩',
                call_end="</steptml:invoke><｜tool_call_end｜>",
                members=Members('<steptml:parameter name="⟨key⟩">⟨value⟩</steptml:parameter>'),
            ),
        ), Example(content="Hi"),
    ),
    "xlam_json_list": Entry(
        OutputFormat(tool_calls=ToolCalls(section_start="[", section_end="]", separator=", ", body=JSON_BODY)),
    ),
    "inkling": Entry(
        OutputFormat(
            header="<|message_model|>", end_of_turn=("<|content_model_end_sampling|>",),
            reasoning=Reasoning("<|content_thinking|>", "<|end_message|>"), content=Content("<|content_text|>", "<|end_message|>"),
            tool_calls=ToolCalls(
                call_start="<|message_model|>⟨name⟩<|content_invoke_tool_json|>", call_end="<|end_message|>",
                body='{"name": "⟨name⟩", "args": ⟨arguments⟩}',
            ),
        ), Example(content="Hi"),
    ),
    "telechat4": Entry(
        OutputFormat(tool_calls=_pairs("tool_call", "param_key", "param_value", after_name="", line="")),
        Example((("get_weather", {"city": "Paris"}),)),
    ),
}  # fmt: skip
