"""The metric of refusals.yaml: one process of orbench judges all answers."""

import orbench

judge = orbench.Judge()


def process(doc: dict, results: list) -> dict:
    refused = judge(results[0], doc["prompt"])[0]["refused"]
    return {} if refused is None else {"refused": float(refused)}
