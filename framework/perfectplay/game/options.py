"""A game's variants: options a plugin declares, and their values as part of a table's identity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from perfectplay.errors import UsageError, did_you_mean

OptionValue = int | str | bool

# Values become part of a directory name, and are typed in a shell: nothing there needs quoting.
_WORD = re.compile(r"[a-z][a-z0-9_-]*")
_CHOICE = re.compile(r"[A-Za-z0-9_.+]+")
_YES = {
    "yes": True,
    "true": True,
    "on": True,
    "1": True,
    "no": False,
    "false": False,
    "off": False,
    "0": False,
}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game, an integer in a range, a word out of a list, or a flag: `--name value`.

    >>> Option("width", 7, "columns of the board", minimum=4, maximum=9).read("5")
    5
    """

    name: str
    default: OptionValue
    help: str = ""
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    text: bool = False
    """Whether any word will do, such as another program's name for something."""
    spelling: Callable[[str], str] | None = None
    """Of a text: the one way to write what can be written in several, so that there is one table for it."""

    def __post_init__(self) -> None:
        if not _WORD.fullmatch(self.name):
            raise ValueError(f"option name {self.name!r} must be lower-case letters, digits, '-' and '_'")
        if self.name.startswith("no-"):
            raise ValueError(f"option name '{self.name}' begins with 'no-', which turns a flag off: choose another")
        if isinstance(self.default, str) and not self.choices and not self.text:
            raise ValueError(
                f"option '{self.name}' takes a word: say which `choices` there are, or that any `text` will do"
            )
        for choice in self.choices:
            if not _CHOICE.fullmatch(choice):
                raise ValueError(f"choice {choice!r} of option '{self.name}' must be letters and digits")
        try:
            self.read(self.default)
        except UsageError as error:
            raise ValueError(f"the default breaks the option's own rule: {error}") from error

    @property
    def is_flag(self) -> bool:
        return isinstance(self.default, bool)

    def read(self, value: object) -> OptionValue:
        """Return `value`, or the value that a text stands for; raise UsageError that says what is allowed."""
        if self.is_flag:
            flag = _YES.get(value.lower()) if isinstance(value, str) else value
            if not isinstance(flag, bool):
                raise UsageError(f"--{self.name} is yes or no, not {value!r}")
            return flag
        if self.text:
            if not isinstance(value, str) or not value.strip():
                raise UsageError(f"--{self.name} is a text, not {value!r}")
            return value.strip() if self.spelling is None else self.spelling(value.strip())
        if self.choices:
            if value not in self.choices:
                hint = did_you_mean(str(value), self.choices)
                raise UsageError(f"--{self.name} is one of {', '.join(self.choices)}, not {value!r}{hint}")
            return str(value)
        number = _integer(value)
        above = self.minimum is None or (number is not None and number >= self.minimum)
        below = self.maximum is None or (number is not None and number <= self.maximum)
        if number is None or not (above and below):
            raise UsageError(f"--{self.name} is {self.range}, not {value!r}")
        return number

    @property
    def range(self) -> str:
        """What is allowed, in words."""
        if self.is_flag:
            return "yes or no"
        if self.text:
            return "a text"
        if self.choices:
            return ", ".join(self.choices)
        if self.minimum is not None and self.maximum is not None:
            return f"a whole number from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"a whole number from {self.minimum} up"
        return "a whole number" if self.maximum is None else f"a whole number up to {self.maximum}"


def read_options(game: str, declared: Iterable[Option], given: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return a value for every declared option, sorted; UsageError on an unknown one or a wrong value.

    Python's words have no hyphens: `either_row` is `either-row`, too.
    """
    known = {option.name: option for option in declared}
    given = {name if name in known else name.replace("_", "-"): value for name, value in given.items()}
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f": it has {', '.join(f'--{word}' for word in known) or 'none'}"
            raise UsageError(f"{game} has no option --{name}{hint}")
    return {name: option.read(given.get(name, option.default)) for name, option in sorted(known.items())}


def identity(game: str, options: Mapping[str, OptionValue]) -> str:
    """Return the name of one variant, `connect4-height=4-width=5`: all options, as defaults may change."""
    return "-".join([game, *(f"{name}={quote(spell(value), safe='(),=+')}" for name, value in sorted(options.items()))])


def chosen(declared: Iterable[Option], options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """The options that differ from their defaults: what one must say to get this variant."""
    defaults = {option.name: option.default for option in declared}
    return {name: value for name, value in options.items() if value != defaults.get(name)}


def as_words(options: Mapping[str, OptionValue]) -> list[str]:
    """The options as a command line has them."""
    words: list[str] = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [f"--{name}", str(value)]
    return words


def spell(value: OptionValue) -> str:
    """A value as people type it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _integer(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value):
        return int(value)
    return None
