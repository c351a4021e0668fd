"""Ranges of integers. They decide which C type holds a value and which run-time checks are needed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """All integers from `lo` to `hi`, both included."""

    lo: int
    hi: int

    def __contains__(self, other: Range) -> bool:
        return self.lo <= other.lo and other.hi <= self.hi

    def includes(self, number: int) -> bool:
        return self.lo <= number <= self.hi

    def join(self, other: Range) -> Range:
        return Range(min(self.lo, other.lo), max(self.hi, other.hi))

    def clip(self, other: Range) -> Range:
        """Return the part inside `other`, or the nearest end of it if there is none."""
        return Range(min(max(self.lo, other.lo), other.hi), max(min(self.hi, other.hi), other.lo))


BOOL = Range(0, 1)
I64 = Range(-(2**63), 2**63 - 1)
U64 = Range(0, 2**64 - 1)
WIDE = Range(-(2**127), 2**127 - 1)

_MAX_COUNT = 256
"""Shift counts beyond this are treated alike: the result never fits."""

_STEPS = [0, 1, 3, 7, 15, 31, 63, 127, 255, 2**16 - 1, 2**31 - 1, 2**63 - 1]
"""Limits to which a range grows that changes in a loop, so that the analysis ends after a few rounds."""


def widen(old: Range, new: Range, *, stays_unsigned: bool = True) -> Range:
    """Return a range that includes both and that cannot grow often. It stays in 64 bits where this is plausible.

    The caller must check at run time that a value fits. A difference of unsigned numbers, such as `bits - low`, is
    expected to be positive unless `stays_unsigned` is false.
    """
    joined = old.join(new)
    if old in I64:
        limit = U64 if old.lo >= 0 and new in U64 and new.hi > I64.hi > old.hi else I64
    else:
        is_difference = stays_unsigned and new.lo < I64.lo
        limit = U64 if old in U64 and (new.lo >= 0 or is_difference) else WIDE
    lo, hi = old.lo, old.hi
    if joined.lo < lo:
        lo = next((-step for step in _STEPS if -step <= joined.lo), limit.lo)
    if joined.hi > hi:
        hi = next((step for step in _STEPS if step >= joined.hi), limit.hi)
    return Range(max(lo, limit.lo), min(hi, limit.hi))


def _corners(*numbers: int) -> Range:
    return Range(min(numbers), max(numbers))


def add(a: Range, b: Range) -> Range:
    return Range(a.lo + b.lo, a.hi + b.hi)


def sub(a: Range, b: Range) -> Range:
    return Range(a.lo - b.hi, a.hi - b.lo)


def mul(a: Range, b: Range) -> Range:
    return _corners(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)


def floordiv(a: Range, b: Range) -> Range:
    """Return the range of `a // b` for all divisors in `b` except 0."""
    divisors = [d for d in (b.lo, b.hi, -1, 1) if d and b.includes(d)]
    return _corners(*(n // d for n in (a.lo, a.hi) for d in divisors))


def mod(a: Range, b: Range) -> Range:
    """Return the range of `a % b` for all divisors in `b` except 0."""
    lo = min(b.lo + 1, 0)
    hi = max(b.hi - 1, 0)
    if a.lo >= 0 and b.lo >= 0:
        hi = min(hi, a.hi)
    return Range(lo, hi)


def shl(a: Range, b: Range) -> Range:
    """Return the range of `a << b` for counts from 0."""
    first, last = max(b.lo, 0), min(max(b.hi, 0), _MAX_COUNT)
    return _corners(a.lo << min(first, last), a.lo << last, a.hi << min(first, last), a.hi << last)


def shr(a: Range, b: Range) -> Range:
    """Return the range of `a >> b` for counts from 0."""
    first, last = min(max(b.lo, 0), _MAX_COUNT), min(max(b.hi, 0), _MAX_COUNT)
    return _corners(a.lo >> first, a.lo >> last, a.hi >> first, a.hi >> last)


def _bits(a: Range, b: Range) -> int:
    return max(number.bit_length() for number in (a.lo, a.hi, b.lo, b.hi))


def bitand(a: Range, b: Range) -> Range:
    if a.lo >= 0 and b.lo >= 0:
        return Range(0, min(a.hi, b.hi))
    if a.lo >= 0 or b.lo >= 0:
        return Range(0, a.hi if a.lo >= 0 else b.hi)
    return Range(-(1 << _bits(a, b)), max(a.hi, b.hi, 0))


def bitor(a: Range, b: Range) -> Range:
    if a.lo >= 0 and b.lo >= 0:
        return Range(max(a.lo, b.lo), (1 << _bits(a, b)) - 1)
    return Range(min(a.lo, b.lo), (1 << _bits(a, b)) - 1)


def bitxor(a: Range, b: Range) -> Range:
    limit = 1 << _bits(a, b)
    return Range(0 if a.lo >= 0 and b.lo >= 0 else -limit, limit - 1)


def neg(a: Range) -> Range:
    return Range(-a.hi, -a.lo)


def invert(a: Range) -> Range:
    return Range(-a.hi - 1, -a.lo - 1)


BINARY = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "floordiv": floordiv,
    "mod": mod,
    "shl": shl,
    "shr": shr,
    "and": bitand,
    "or": bitor,
    "xor": bitxor,
}
