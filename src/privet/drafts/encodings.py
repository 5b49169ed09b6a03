"""In which encoding a text file is written that does not say so: judged by what its letters would be.

Any bytes are letters in some encoding, and wrong ones give mojibake without an error. So each candidate is
asked how much of the text it makes would be ordinary: common characters of Chinese, Japanese or Korean, words
of one script with capitals where words have them, accents that one language has together. In doubt between
encodings of western Europe it is cp1252.

A file in which letters of UTF-8 stand beside a few other bytes is a damaged one, or two put together: read in
any other encoding its letters would be mojibake, in which nobody finds a name or a street. It is refused.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from privet.engines import text
from privet.errors import InputError

SAMPLE = 1 << 17  # bytes of lines with other than ASCII that are looked at
READ = 1 << 22
SURE = 0.7  # share of ordinary characters from which a text is Chinese, Japanese or Korean
KOREAN = 0.95  # the commonest Hangul stand where common Chinese characters do
SIGNS = "\u2019\u2018\xb4`\xb7\xad\xa0\u2013\u2014"  # that stand between letters in any language
PURE = 0.9  # share of words in one script, written as words are
FEWEST = 4  # letters below which nothing is told from them
FITS, MISFITS = 0.98, 0.95  # of accents: what a language of another encoding has, and what no western one has
CYRILLIC, GREEK, HEBREW, ARABIC = "CYRILLIC", "GREEK", "HEBREW", "ARABIC"
SCRIPTS = {
    "cp1255": HEBREW,
    "cp1256": ARABIC,
    "cp1253": GREEK,
    "cp1251": CYRILLIC,
    "koi8-r": CYRILLIC,
}
OFTEN_ARABIC = "لمنهوي"  # where Cyrillic capitals have no letters
WESTERN = (
    *("àâæçéèêëîïôœùûüÿ", "äöüßé", "áéíóúüñçªº", "àáâãçéêíóôõúüªº", "àèéìíîòóùú", "åäöéü", "æøåéèêóòâôü"),
    *("áðéíóúýþæö", "éëïóöüèáç", "àçèéíïòóúü·", "áéíóúàèìòù"),
)
CENTRAL = (
    *("ąćęłńóśźżü", "áčďéěíňóřšťúůýžäöü", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţșț", "çëé"),
)
TURKISH = ("çğıöşüâîûİ",)
# Accents that the words of one language have; the first alphabet's encoding is taken where none is better.
ALPHABETS: Mapping[str, tuple[str, ...]] = {
    "cp1252": WESTERN,
    "cp1254": TURKISH,
    "cp1250": CENTRAL,
    "iso8859-2": CENTRAL,
}
LEFT = "cp1252"  # what is taken where nothing speaks for another
ONE_BYTE = frozenset(ALPHABETS)
_LETTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|"
    rb"\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|"
    rb"\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
# An accent of the west in UTF-8; not what a capital before a quote, a dash or an ellipsis is in cp1252.
_ACCENT = re.compile(rb"[\xc3-\xc5][\x80-\x84\x86-\x90\x98-\x9f\xa1-\xaa\xac-\xba\xbc-\xbf]")
KANA = frozenset((0xA4, 0xA5))  # rows of EUC-JP
_PAIRS = re.compile(rb"[\xa1-\xfe]{2}")
_OTHER = re.compile(rb"[\x80-\xff]")
UNREAD = "\ufffd"
DAMAGED = 0.75  # share of bytes in letters of UTF-8 from which a file was written in it
MIXED = 0.02  # share of accents of UTF-8 that no file has that was written in an encoding of the west
ENOUGH = 5000  # bytes that are no UTF-8, after which few letters of it are chance
_WORDS = re.compile(r"[^\W\d_]+")
_HALF_KANA = range(0xFF61, 0xFFA0)


def encoding_of(path: Path) -> str:
    """The encoding that fits all of a file: a mark at its start, UTF-8, or what its letters speak for."""
    with text.opened(path) as file:
        start = file.read(1 << 16)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if unmarked := _utf16(start):
        return unmarked
    if _fits(path, "utf-8"):
        return "utf-8"
    if 0 in start:
        return LEFT  # no text, which reading will say
    written = _written_as_utf8(path)
    if written.marked or written.share(written.size) >= DAMAGED:
        raise InputError(written.said(path))
    lines = _other_than_ascii(path)
    found = next((encoding for encoding in judged(lines) if _fits(path, encoding)), None)
    if found in {None, LEFT} and (
        meant := next((one for one in judged(lines, "replace") if one not in ONE_BYTE), None)
    ):
        raise InputError(
            f"{path}: line {_misfit(path, meant)} is not {meant}, which the rest of the file seems to be; "
            "correct it, or say --encoding"
        )
    if found in ONE_BYTE and written.accents > 1 and written.share(written.accents) >= MIXED:
        raise InputError(written.said(path))
    if found is None:
        raise InputError(
            f"{path}: line {_misfit(path, LEFT)} is neither UTF-8 nor {LEFT}, and no encoding that is looked "
            "for fits all lines; say --encoding"
        )
    return found


@dataclass(frozen=True, slots=True)
class _Written:
    """What speaks for UTF-8 in a file that it does not fit."""

    marked: bool
    letters: int
    size: int  # bytes of them
    accents: int
    others: int  # bytes that are part of no letter of UTF-8
    line: int  # where the first of them stands

    def share(self, of: int) -> float:
        return of / (of + self.others)

    def said(self, path: Path) -> str:
        return (
            f"{path}: line {self.line} is not UTF-8, and {self.letters:,} letters elsewhere are: it is "
            "damaged, or two files in one; correct it, or say --encoding"
        )


def _written_as_utf8(path: Path) -> _Written:
    marked, letters, size, accents, others, first = False, 0, 0, 0, 0, 0
    with text.opened(path) as file:
        for at, line in enumerate(file, start=1):
            if line.isascii():
                continue
            if at == 1:
                marked = line.startswith(codecs.BOM_UTF8)
            left, here = _LETTER.subn(b"", line)
            letters += here
            size += len(line) - len(left)
            if wrong := len(_OTHER.findall(left)):
                first = first or at
                others += wrong
            if here:
                accents += len(_ACCENT.findall(line))
            if others > ENOUGH and letters < others * MIXED and not marked:
                break
    return _Written(marked, letters, size, accents, others, first)


def _utf16(start: bytes) -> str | None:
    """Is every other byte mostly 0, as digits and delimiters have it in UTF-16?"""
    even, odd = start[::2], start[1::2]
    for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros and zeros.count(0) * 4 > len(zeros) and others.count(0) * 50 < len(others):
            return encoding
    return None


def _fits(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with text.opened(path) as file:
        try:
            while chunk := file.read(READ):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _misfit(path: Path, encoding: str) -> int:
    """The first line that an encoding does not fit."""
    with text.opened(path) as file:
        for at, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return at
    return 1


def _other_than_ascii(path: Path) -> bytes:
    """Whole lines that speak for an encoding, from the beginning of a file."""
    found, size = list[bytes](), 0
    with text.opened(path) as file:
        for line in file:
            if not line.isascii():
                found.append(line)
                size += len(line)
                if size > SAMPLE:
                    break
    return b"".join(found)


def judged(lines: bytes, faults: str = "strict") -> Iterator[str]:
    r"""The encodings that lines may be written in, the likeliest first; of the west, cp1252.

    `faults`: "replace" asks which encodings they may be written in but for some damage.

    >>> next(judged("姓名,赵桂珍\n李龙,财务部\n".encode("gb18030")))
    'gb18030'
    >>> next(judged("имя,Мария Волкова\n".encode("cp1251"))), next(judged("Jürgen,Größe".encode("cp1252")))
    ('cp1251', 'cp1252')
    """
    fits = {name: _alphabet(lines, name, known) for name, known in ALPHABETS.items()}
    if fits["cp1252"] < MISFITS:
        shares = {name: _ordinary(lines, name, judge, faults) for name, judge in EASTERN.items()}
        if shares["cp949"] >= KOREAN:
            yield "cp949"
        if not _kana(lines):
            del shares["euc_jp"]
        yield from sorted((name for name in shares if shares[name] >= SURE), key=lambda name: -shares[name])
        yield from (name for name, script in SCRIPTS.items() if _of_script(lines, name, script, faults))
        best = max(fits, key=lambda name: fits[name])
        if fits[best] >= FITS:
            yield best
    yield LEFT


def _ordinary(
    lines: bytes, encoding: str, judge: Callable[[bytes, str], float], faults: str = "strict"
) -> float:
    """The share of ordinary characters among those that are not ASCII; beside an ASCII letter none is.

    In wrong encodings two of the letters of a western word become one character in the midst of it.
    """
    try:
        read = lines.decode(encoding, faults)
    except UnicodeDecodeError:
        return 0.0
    found, total = 0.0, 0
    known: dict[str, float] = {}
    for before, letter, after in zip(" " + read, read, read[1:] + " ", strict=False):
        if letter.isascii():
            continue
        total += 1
        if letter == UNREAD or _western(before) or _western(after):
            continue
        if letter not in known:
            known[letter] = judge(letter.encode(encoding), letter)
        found += known[letter]
    return found / total if total >= FEWEST else 0.0


def _western(letter: str) -> bool:
    return letter.isascii() and letter.islower()


def _chinese(code: bytes, letter: str) -> float:
    if _private(letter):
        return 0.0
    if len(code) != 2 or min(code) < 0xA1:
        return 0.3
    return 1.0 if 0xB0 <= code[0] <= 0xD7 or code[0] in {0xA1, 0xA3} else 0.5


def _taiwanese(code: bytes, letter: str) -> float:
    if _private(letter) or len(code) != 2:
        return 0.0
    return 1.0 if 0xA4 <= code[0] <= 0xC6 or code[0] in {0xA1, 0xA2} else 0.5


def _japanese(code: bytes, letter: str) -> float:
    if _private(letter):
        return 0.0
    if len(code) == 1:
        return 0.6 if ord(letter) in _HALF_KANA else 0.0
    return 1.0 if 0x81 <= code[0] <= 0x83 or 0x88 <= code[0] <= 0x97 else 0.5


def _japanese_of_unix(code: bytes, letter: str) -> float:
    """Its kana tell it from Chinese, which has the same characters at the same places."""
    if _private(letter) or len(code) != 2 or min(code) < 0xA1:
        return 0.0
    return 1.0 if 0xB0 <= code[0] <= 0xCF or code[0] in {0xA1, 0xA3, *KANA} else 0.3


def _korean(code: bytes, letter: str) -> float:
    if _private(letter) or len(code) != 2 or min(code) < 0xA1:
        return 0.0
    return 1.0 if 0xB0 <= code[0] <= 0xC8 or code[0] in {0xA1, 0xA3} else 0.2


EASTERN: Mapping[str, Callable[[bytes, str], float]] = {
    "gb18030": _chinese,
    "cp950": _taiwanese,
    "cp932": _japanese,
    "cp949": _korean,
    "euc_jp": _japanese_of_unix,
}


def _kana(lines: bytes) -> bool:
    """Are there enough kana of EUC-JP? Chinese has none at their places."""
    letters = _PAIRS.findall(lines)
    return sum(letter[0] in KANA for letter in letters) * 10 >= max(FEWEST, len(letters))


def _private(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Co", "Cn"}


def _of_script(lines: bytes, encoding: str, script: str, faults: str = "strict") -> bool:
    """Are nearly all words that are not ASCII of one script, with capitals where words have them?"""
    try:
        read = lines.decode(encoding, faults)
    except UnicodeDecodeError:
        return False
    good, every = 0, 0
    for word in _WORDS.findall(read):
        if word.isascii():
            continue
        every += len(word)
        if all(script in unicodedata.name(letter, "") for letter in word) and _written(word):
            good += len(word)
    if script == ARABIC and sum(read.count(letter) for letter in OFTEN_ARABIC) < every * 0.15:
        return False
    stray = sum(not c.isascii() and not c.isalpha() and unicodedata.category(c)[0] in "SCN" for c in read)
    return every >= FEWEST and good >= PURE * (every + stray)


def _written(word: str) -> bool:
    return word.islower() or word.isupper() or word[1:].islower() or word.lower() == word.upper()


def _alphabet(lines: bytes, encoding: str, alphabets: tuple[str, ...]) -> float:
    """The share of accents that one language has together; a sign between two letters is none that it has."""
    try:
        read = lines.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    accents = [letter for letter in read if not letter.isascii() and letter.isalpha()]
    signs = sum(
        before.isalpha() and after.isalpha() and not sign.isalpha() and sign not in SIGNS
        for before, sign, after in zip(read, read[1:], read[2:], strict=False)
        if not sign.isascii()
    )
    if len(accents) + signs < FEWEST:
        return 0.0
    most = max(sum(a in known or a.lower() in known for a in accents) for known in alphabets)
    return most / (len(accents) + signs)
