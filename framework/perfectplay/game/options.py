"""The options of a game. Their values choose a variant and are part of the name of its table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from perfectplay.errors import UsageError, did_you_mean

OptionValue = int | str | bool

# Values become part of directory names and are typed in a shell, so they contain nothing that needs quoting.
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_CHOICE = re.compile(r"[A-Za-z0-9_.+]+")
_FLAGS = {
    **dict.fromkeys(("yes", "true", "on", "1"), True),
    **dict.fromkeys(("no", "false", "off", "0"), False),
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a game, `--name value`: an integer in a range, one of several words, any text, or a flag.

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
    """Whether any text is allowed, such as a name in another program."""
    spelling: Callable[[str], str] | None = None
    """Converts a text to its standard spelling, so that equal variants share one table."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"option name {self.name!r} must consist of lower-case letters, digits, '-' and '_'")
        if self.name.startswith("no-"):
            raise ValueError(f"option name '{self.name}' begins with 'no-', which is reserved for turning flags off")
        if isinstance(self.default, str) and not self.choices and not self.text:
            raise ValueError(f"option '{self.name}' has a str as default; give its `choices`, or `text=True`")
        for choice in self.choices:
            if not _CHOICE.fullmatch(choice):
                raise ValueError(f"choice {choice!r} of option '{self.name}' must consist of letters and digits")
        try:
            self.read(self.default)
        except UsageError as error:
            raise ValueError(f"the default of an option is not allowed by the option: {error}") from error

    @property
    def is_flag(self) -> bool:
        return isinstance(self.default, bool)

    def read(self, value: object) -> OptionValue:
        """Return the option's value for a Python value or a text. Raises UsageError if it is not allowed."""
        result: OptionValue | None
        if self.is_flag:
            flag = _FLAGS.get(value.lower()) if isinstance(value, str) else value
            result = flag if isinstance(flag, bool) else None
        elif self.text:
            text = value.strip() if isinstance(value, str) else ""
            result = self._spell(text) if text else None
        elif self.choices:
            result = str(value) if value in self.choices else None
        else:
            result = self._read_integer(value)
        if result is None:
            allowed = f"one of {self.range}" if self.choices else self.range
            raise UsageError(f"--{self.name} is {allowed}, not {value!r}{did_you_mean(str(value), self.choices)}")
        return result

    def _spell(self, text: str) -> str:
        if self.spelling is None:
            return text
        try:
            return self.spelling(text)
        except (ValueError, RecursionError) as error:  # such as brackets nested hundreds deep
            shown = text if len(text) <= 60 else f"{text[:60]}…"
            raise UsageError(f"--{self.name} cannot be read: {shown!r} ({error})") from None

    def _read_integer(self, value: object) -> int | None:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        above = self.minimum is None or value >= self.minimum
        below = self.maximum is None or value <= self.maximum
        return value if above and below else None

    @property
    def range(self) -> str:
        """A description of the allowed values."""
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


def read_options(game: str, declared: Iterable[Option], chosen: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return a value for every declared option, sorted by name. Raises UsageError for an unknown or wrong option.

    Python identifiers cannot contain hyphens, so `either_row` is accepted for `either-row`.
    """
    options = {option.name: option for option in declared}
    chosen = {name if name in options else name.replace("_", "-"): value for name, value in chosen.items()}
    for name in chosen:
        if name not in options:
            hint = did_you_mean(name, options) or f"; it has {', '.join(f'--{each}' for each in options) or 'none'}"
            raise UsageError(f"{game} has no option --{name}{hint}")
    return {name: option.read(chosen.get(name, option.default)) for name, option in sorted(options.items())}


def identity(game: str, options: Mapping[str, OptionValue]) -> str:
    """Return the name of a variant, `connect4-height=4-width=5`. It has all options, because defaults may change."""
    return "-".join([game, *(f"{name}={quote(spell(value), safe='(),=+')}" for name, value in sorted(options.items()))])


def chosen(declared: Iterable[Option], options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Return the options that differ from their defaults."""
    defaults = {option.name: option.default for option in declared}
    return {name: value for name, value in options.items() if value != defaults.get(name)}


def as_words(options: Mapping[str, OptionValue]) -> list[str]:
    """Return the options as command-line arguments."""
    words: list[str] = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [f"--{name}", str(value)]
    return words


def spell(value: OptionValue) -> str:
    """Return a value as the user types it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
