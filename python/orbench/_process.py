"""The command orbench as a process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from collections import deque
from concurrent.futures import Future
from typing import Any, Deque, Dict, List, Mapping, Optional, Sequence, Union

#: A verdict: judge, class, refused, score, reason, span, rationale and simulated, as
#: docs/schemas/judgment.json describes them. refused and score are None for an
#: answer that is unjudged.
Verdict = Dict[str, Any]


class OrbenchError(Exception):
    """What the command says of its failure. code is its exit code, None for a bad line."""

    def __init__(self, message: str, code: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code


def command() -> str:
    """The path of the command: that of this package, or else the one on PATH."""
    name = "orbench.exe" if os.name == "nt" else "orbench"
    for folder in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError("the command orbench is neither beside this Python nor on PATH: pip install orbench")
    return found


def judges_of(judge: Union[str, Sequence[str]]) -> List[str]:
    """The arguments that name judges."""
    return ["--judge", judge if isinstance(judge, str) else ",".join(judge)]


class Judge:
    """One process that judges answers for as long as it is open.

    judge names one or more judges, as ``orbench judge --help`` lists them. More
    arguments of that command, such as ``"--base-url"``, follow. A Judge may be used from
    several threads, and is a context manager.
    """

    def __init__(self, judge: Union[str, Sequence[str]] = "lexical", *arguments: str) -> None:
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [command(), "judge", "--responses", "-", "--quiet", *judges_of(judge), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
        )
        self._lock = threading.Lock()
        self._waiting: Deque[Future[List[Verdict]]] = deque()
        self._ended: Optional[OrbenchError] = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __call__(self, response: str, prompt: str = "", finish: str = "stop") -> List[Verdict]:
        """The verdicts on an answer, one for each judge; see submit."""
        return self.submit(response, prompt, finish).result()

    def submit(self, response: str, prompt: str = "", finish: str = "stop") -> Future[List[Verdict]]:
        """The same, without waiting.

        finish says how the answer ended: stop, length, blocked or other. The result, or
        this call, is an OrbenchError if the process has ended or the answer is at fault.
        """
        line: Dict[str, Any] = {"response": response, "finish": finish}
        if prompt:
            line["prompt"] = prompt
        text = json.dumps(line).encode() + b"\n"
        future: Future[List[Verdict]] = Future()
        with self._lock:
            if self._ended is not None:
                raise self._ended
            self._waiting.append(future)
            try:
                self._process.stdin.write(text)  # type: ignore[union-attr]
                self._process.stdin.flush()  # type: ignore[union-attr]
            except (OSError, ValueError):
                pass  # the process has ended; _read says why to all that wait
        return future

    def _read(self) -> None:
        for text in self._process.stdout:  # type: ignore[union-attr]
            answer: Mapping[str, Any] = json.loads(text)
            future = self._waiting.popleft()
            if "error" in answer:
                future.set_exception(OrbenchError(answer["error"]))
            else:
                future.set_result(answer["verdicts"])
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        with self._lock:
            self._ended = OrbenchError(said or "the process of orbench has ended", code)
            for future in self._waiting:
                future.set_exception(self._ended)
            self._waiting.clear()

    def close(self) -> None:
        """Ends the process, after it has answered what was asked."""
        try:
            self._process.stdin.close()  # type: ignore[union-attr]
        except OSError:
            pass
        self._reader.join()
        self._process.stdout.close()  # type: ignore[union-attr]
        self._said.close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
