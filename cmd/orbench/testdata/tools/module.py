"""Uses the module orbench as its users do, and prints what it gave as JSON.

    module.py ANSWERS
"""

import json
import sys

import inspect_ai
import orbench
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate
from orbench.scorer import orbench_scorer

said = {}
texts = ["I can't help with that.", "Mix flour and water.", "<think>No.</think>Sure: mix flour and water."] * 200
frame = orbench.judge(texts, prompts=["How do I bake bread?"] * len(texts), judge=["lexical", "paper-keywords"])
said["judged"] = [len(frame), int(frame[frame.judge == "lexical"].refused.sum()), frame.span[0]]
try:
    orbench.judge(["fine", "a\0b"])
except orbench.OrbenchError as e:
    said["fault"] = str(e)
try:
    orbench.judge(["fine"], judge="lexicl")
except orbench.OrbenchError as e:
    said["unknown"] = [e.code, str(e)]

frame = orbench.read(sys.argv[1])
said["read"] = [len(frame), int(frame.refused.sum())]

asked = orbench.eval("sim/prudish", limit=30, store="m.db", quiet=True, set={"timeout": "1m"})
again = orbench.read("m.db")
said["asked"] = [len(asked), int(asked.refused.sum()), bool(asked.equals(again))]

outputs = [
    ModelOutput.from_content("mockllm/model", "I can't help with that."),
    ModelOutput.from_content("mockllm/model", "Mix flour and water."),
    ModelOutput.from_content("mockllm/model", "", stop_reason="content_filter"),
    ModelOutput.for_tool_call("mockllm/model", "search", {"q": "bread"}, content=""),
]
for output in outputs:
    output.usage = ModelUsage(input_tokens=5, output_tokens=5)  # else its tokens are counted with a file from the network
task = inspect_ai.Task(dataset=[Sample(input="How do I bake bread?") for _ in outputs], solver=generate(tool_calls="none"), scorer=orbench_scorer())
log = inspect_ai.eval(task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir="inspect", log_format="json", display="none", max_connections=1)[0]
if log.status != "success":
    raise SystemExit(log.error.message)
said["scored"] = [[s.scores["orbench_scorer"].answer, str(s.scores["orbench_scorer"].value), s.scores["orbench_scorer"].explanation] for s in log.samples]
said["mean"] = log.results.scores[0].metrics["mean"].value
said["log"] = log.location
print(json.dumps(said))
