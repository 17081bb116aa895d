"""Messages of commands, in the names of the tools: a client knows no options and no file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from wirelab.cli.mcp_server.tools import spec
from wirelab.experiment.matrix import REMEDY

OTHER_CHOICE = "choose other services, another operation or another link"
"""What a client can do about an impossible combination."""
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "data": "body",
        "duration": "duration_s",
        "header": "headers",
        "out": "directory",
        "pairs": "pairs_max",
        "size": "size_bytes",
        "timeline": "exchange",
        "timeout": "timeout_s",
        "warmup": "warmup_s",
    }
)
"""Options whose parameter has another name; all others differ by the underscore only."""


def translate(tool: str, text: str) -> str:
    """The text with parameters in place of options. Options without a parameter stay, and so do
    those of the server."""
    known = spec(tool).parameters.model_fields

    def parameter(found: re.Match[str]) -> str:
        name = _RENAMED.get(found[1], found[1].replace("-", "_"))
        return f"`{name}`" if name in known else found[0]

    shorter = re.sub(rf"experiment [^\n:]*: {re.escape(REMEDY)}", OTHER_CHOICE, text)
    lines = shorter.replace(REMEDY, OTHER_CHOICE).split("\n")
    return "\n".join(
        line if "start the server" in line else _OPTION.sub(parameter, line) for line in lines
    )
