"""A Dockerfile and a .dockerignore as data, as far as this project's need to be understood."""

import json
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """One instruction: its keyword, its flags such as `--from=build`, and the rest of it."""

    keyword: str
    flags: dict[str, str]
    rest: str

    @property
    def words(self) -> list[str]:
        """The rest, as a list if it is written as one, else split as a shell would."""
        return [*json.loads(self.rest)] if self.is_list else shlex.split(self.rest)

    @property
    def is_list(self) -> bool:
        """Whether the rest is written as a list, which no shell reads."""
        return self.rest.startswith("[")


class Stage(NamedTuple):
    """What follows a FROM: the image or stage it starts from, its name, its instructions."""

    origin: str
    name: str
    instructions: list[Instruction]


def instructions(text: str) -> Iterator[Instruction]:
    """All instructions of a Dockerfile, continued lines joined, comments left out."""
    kept = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(kept))
    for line in filter(str.strip, joined.splitlines()):
        keyword, _, rest = line.strip().partition(" ")
        flags = {}
        while match := re.match(r"--([\w-]+)=(\S+)\s+", rest):
            flags[match[1]] = match[2]
            rest = rest[match.end() :]
        yield Instruction(keyword.upper(), flags, rest.strip())


def stages(text: str) -> list[Stage]:
    """The stages of a Dockerfile."""
    found: list[Stage] = []
    for instruction in instructions(text):
        if instruction.keyword == "FROM":
            origin, *named = instruction.rest.split()
            found.append(Stage(origin, named[-1] if named else "", []))
        else:
            found[-1].instructions.append(instruction)
    return found


def assignments(instruction: Instruction) -> dict[str, str]:
    """What an ENV or an ARG sets."""
    pairs = (word.partition("=") for word in instruction.words)
    return {name: value for name, _, value in pairs}


class Ignored:
    """What a .dockerignore keeps from the builder: the last line that fits decides."""

    def __init__(self, text: str) -> None:
        lines = (line.strip() for line in text.splitlines())
        self._rules = [
            (line.lstrip("!"), line.startswith("!"))
            for line in lines
            if line and not line.startswith("#")
        ]

    def __contains__(self, path: str) -> bool:
        ignored = False
        for pattern, kept in self._rules:
            if any(_fits(part, pattern) for part in _itself_and_above(path)):
                ignored = not kept
        return ignored


def _itself_and_above(path: str) -> list[str]:
    return [path, *(str(above) for above in Path(path).parents if str(above) != ".")]


def _fits(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch(Path(path).name, pattern[3:])
    return path.count("/") == pattern.count("/") and fnmatch(path, pattern)
