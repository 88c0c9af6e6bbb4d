"""Renders chat templates as the transformers library does.

Reads a list of {"template": …, "messages": […], "arguments": {…}} and prints the texts.
"""

import json
import sys

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment


def fail(message):
    raise TemplateError(message)


environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
environment.globals["raise_exception"] = fail
texts = [
    environment.from_string(asked["template"]).render(
        messages=asked["messages"], add_generation_prompt=True, bos_token="<bos>", **asked["arguments"]
    )
    for asked in json.load(sys.stdin)
]
json.dump(texts, sys.stdout)
