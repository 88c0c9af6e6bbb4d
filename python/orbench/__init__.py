"""Measures how often language models refuse what they should answer.

    import orbench

    orbench.judge(["I can't help with that."])      # a row for each verdict
    orbench.read("logs/")                           # the answers of another tool's logs
    orbench.eval("openai/gpt-4o-mini", limit=100)   # asks a model

These three give a pandas DataFrame, whose columns are those of a file of verdicts
(docs/output.md). ``Judge`` gives single verdicts as dicts, from one process for as long
as it is open, and needs no pandas. All run the command ``orbench``, which this package
brings along.
"""

from ._frames import eval, judge, read
from ._process import Judge, OrbenchError, Verdict, command

__all__ = ["Judge", "OrbenchError", "Verdict", "command", "eval", "judge", "read"]
