"""The prompts as a task of Inspect; see https://inspect.aisi.org.uk/tasks.html."""

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, csv_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate
from orbench.scorer import orbench_scorer


@task
def refusals(prompts: str) -> Task:
    return Task(
        dataset=csv_dataset(prompts, FieldSpec(input="prompt")),
        solver=generate(),
        scorer=orbench_scorer(),
        config=GenerateConfig(temperature=0, max_tokens=256, max_connections=50),
        fail_on_error=False,
    )
