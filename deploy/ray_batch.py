"""Answers a file of calls that orbench wrote (--set batch_files=calls), with Ray.

    pip install 'ray[data,llm]'
    python ray_batch.py calls/my-model-001.jsonl my-model [WEIGHTS]

Ray Serve loads the model, from WEIGHTS (a path, or a name on Hugging Face) where the
server's name of it is another, and Ray Data sends each call as it is. What vLLM replies is
written beside the calls, as calls/my-model-001-results.jsonl, in the form that
"vllm run-batch" writes too: finish_reason is vLLM's own, so an answer that was cut counts
as cut.
"""

import json
import sys

import ray
from ray import serve
from ray.data.llm import ServeDeploymentProcessorConfig, build_processor
from ray.serve.llm import LLMConfig, build_llm_deployment
from ray.serve.llm.openai_api_models import ChatCompletionRequest

REPLICAS = 1


def request(row):
    call = json.loads(row["text"])
    return {
        "method": "chat",
        "dtype": "ChatCompletionRequest",
        "request_kwargs": {**call["body"], "stream": False},
        "custom_id": call["custom_id"],
    }


def result(row):
    line = {"custom_id": row["custom_id"], "response": None, "error": None}
    if row.get("__inference_error__"):
        line["error"] = {"message": row["__inference_error__"]}
    else:
        body = {name: row[name] for name in ("model", "choices", "usage")}
        line["response"] = {"status_code": 200, "body": body}
    # Ray hands lists over as arrays of NumPy.
    return {"line": json.dumps(line, default=lambda array: array.tolist())}


def main(calls, model, weights=None):
    app = build_llm_deployment(
        LLMConfig(
            model_loading_config={"model_id": model, "model_source": weights or model},
            deployment_config={"autoscaling_config": {"min_replicas": REPLICAS, "max_replicas": REPLICAS}},
        ),
        override_serve_options={"name": "model"},
    )
    serve.run(app, name="orbench")
    process = build_processor(
        ServeDeploymentProcessorConfig(
            deployment_name="model",
            app_name="orbench",
            dtype_mapping={"ChatCompletionRequest": ChatCompletionRequest},
            should_continue_on_error=True,
            batch_size=64,
        ),
        preprocess=request,
        postprocess=result,
    )
    with open(calls.removesuffix(".jsonl") + "-results.jsonl", "w") as results:
        for row in process(ray.data.read_text(calls)).iter_rows():
            results.write(row["line"] + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
