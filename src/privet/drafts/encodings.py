"""In which encoding a text file is written that does not say so: judged by what its letters would be.

Any bytes are letters in some encoding, and wrong ones give mojibake without an error. So each candidate is
asked how much of the text it makes would be ordinary: common characters of Chinese, Japanese or Korean, words
of one script with capitals where words have them, accents that one language has together. In doubt between
encodings of western Europe it is cp1252.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from privet.engines import text

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
    lines = _other_than_ascii(path)
    for encoding in judged(lines):
        if _fits(path, encoding):
            return encoding
    return "latin-1"


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


def judged(lines: bytes) -> Iterator[str]:
    r"""The encodings that lines may be written in, the likeliest first; of the west, cp1252.

    >>> next(judged("姓名,赵桂珍\n李龙,财务部\n".encode("gb18030")))
    'gb18030'
    >>> next(judged("имя,Мария Волкова\n".encode("cp1251"))), next(judged("Jürgen,Größe".encode("cp1252")))
    ('cp1251', 'cp1252')
    """
    fits = {name: _alphabet(lines, name, known) for name, known in ALPHABETS.items()}
    if fits["cp1252"] < MISFITS:
        shares = {name: _ordinary(lines, name, judge) for name, judge in EASTERN.items()}
        if shares["cp949"] >= KOREAN:
            yield "cp949"
        yield from sorted((name for name in shares if shares[name] >= SURE), key=lambda name: -shares[name])
        yield from (name for name, script in SCRIPTS.items() if _of_script(lines, name, script))
        best = max(fits, key=lambda name: fits[name])
        if fits[best] >= FITS:
            yield best
    yield "cp1252"


def _ordinary(lines: bytes, encoding: str, judge: Callable[[bytes, str], float]) -> float:
    """The share of ordinary characters among those that are not ASCII; beside an ASCII letter none is.

    In wrong encodings two of the letters of a western word become one character in the midst of it.
    """
    try:
        read = lines.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    found, total = 0.0, 0
    known: dict[str, float] = {}
    for before, letter, after in zip(" " + read, read, read[1:] + " ", strict=False):
        if letter.isascii():
            continue
        total += 1
        if _western(before) or _western(after):
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


def _korean(code: bytes, letter: str) -> float:
    if _private(letter) or len(code) != 2 or min(code) < 0xA1:
        return 0.0
    return 1.0 if 0xB0 <= code[0] <= 0xC8 or code[0] in {0xA1, 0xA3} else 0.2


EASTERN: Mapping[str, Callable[[bytes, str], float]] = {
    "gb18030": _chinese,
    "cp950": _taiwanese,
    "cp932": _japanese,
    "cp949": _korean,
}


def _private(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Co", "Cn"}


def _of_script(lines: bytes, encoding: str, script: str) -> bool:
    """Are nearly all words that are not ASCII of one script, with capitals where words have them?"""
    try:
        read = lines.decode(encoding)
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
