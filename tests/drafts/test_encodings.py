"""In which encoding a file is written: made-up people in each, read by both engines as they were written."""
# ruff: noqa: RUF001 - letters of other scripts are what this is about

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from privet.cli import main
from privet.core import Form
from privet.drafts.draft import draft
from privet.drafts.encodings import encoding_of
from privet.engines.embedded import Embedded
from privet.engines.plain import Plain
from privet.errors import InputError
from privet.policy.values import Policy

ENGINES: list[Any] = [Embedded(), Plain()]
# A header, first names, family names and towns; nobody is called so.
PEOPLE = {
    "gb18030": (
        "姓名 性别 城市",
        "桂珍 龙 志强 鑫 婷婷",
        "赵 李 欧阳 魏 江",
        "北京 佛山市 沈阳 静市 南宁",
    ),
    "cp950": (
        "姓名 性別 城市",
        "怡君 志明 淑芬 雅婷 冠宇",
        "陳 林 黃 歐陽 鄭",
        "臺北市 高雄 新竹 臺中 花蓮",
    ),
    "cp932": (
        "氏名 性別 フリガナ",
        "花子 一郎 さくら 健太 美咲",
        "佐藤 鈴木 高橋 渡辺 伊藤",
        "サトウ スズキ ﾀｶﾊｼ ワタナベ イトウ",
    ),
    "euc_jp": (
        "氏名 性別 フリガナ",
        "花子 一郎 さくら 健太 美咲",
        "佐藤 鈴木 高橋 渡辺 伊藤",
        "サトウ スズキ たかはし ワタナベ イトウ",
    ),
    "cp949": (
        "이름 성별 도시",
        "민준 서연 지훈 하은 도윤",
        "김 이 박 최 정",
        "서울 부산광역시 대구 인천 광주",
    ),
    "cp1251": (
        "Имя Пол Город",
        "Мария Пётр Анна Иван Юлия",
        "Волкова Иванов Щукина Ежов Яшина",
        "Москва Казань Тверь Омск Уфа",
    ),
    "koi8-r": (
        "Имя Пол Город",
        "Мария Пётр Анна Иван Юлия",
        "Волкова Иванов Щукина Ежов Яшина",
        "Москва Казань Тверь Омск Уфа",
    ),
    "cp1253": (
        "Όνομα Φύλο Πόλη",
        "Μαρία Γιώργος Ελένη Νίκος Άννα",
        "Παπαδάκη Νικολάου Ρήγα Σταύρου Ωραία",
        "Αθήνα Πάτρα Βόλος Λάρισα Χανιά",
    ),
    "cp1255": (
        "שם מין עיר",
        "משה רחל דוד שרה יעל",
        "כהן לוי מזרחי פרץ ביטון",
        "חיפה ירושלים אשדוד עכו לוד",
    ),
    "cp1256": (
        "الاسم الجنس المدينة",
        "محمد فاطمة علي زينب حسن",
        "الخطيب المصري حداد نجار سالم",
        "القاهرة بغداد عمان حلب طرابلس",
    ),
    "cp1250": (
        "Imię Płeć Miasto",
        "Małgorzata Łukasz Żaneta Józef Świętosława",
        "Dąbrowska Wójcik Śliwińska Źrebak Gołąb",
        "Łódź Gdańsk Kraków Poznań Bełchatów",
    ),
    "cp1254": (
        "Adı Cinsiyet Şehir",
        "Ayşe Mehmet İsmail Gülşen Çağla",
        "Yılmaz Öztürk Doğan Şahin Kılıç",
        "İstanbul Eskişehir Muğla Iğdır Çorum",
    ),
    "cp1252": (
        "Vorname Straße Größe",
        "Jürgen Jörg Bärbel Anna Björn",
        "Müller Groß König Weiß Schäfer",
        "Köln Lübeck Würzburg Gießen Münster",
    ),
    "utf-8": (
        "prénom sexe ville",
        "Hélène Noël François Zoé Anaïs",
        "Lefèvre Gérard Bérard Noël Façon",
        "Orléans Nîmes Châlons Sète Angoulême",
    ),
}
ALSO = {
    "cp1250": [
        "Jiří,Dvořák,Plzeň\nVěra,Nováková,Ústí\nŠtěpán,Říha,Třebíč\n",
        "Ernő,Szűcs,Győr\nGyöngyvér,Tóth,Kőszeg\n",
    ],
    "cp1252": [
        "JOÃO,CONCEIÇÃO,SÃO PAULO\nJOSÉ,ANTÔNIO,BRASÍLIA\n",
        "ÅSA,MÅNSSON,ÅMÅL\nBJÖRN,ÖBERG,MALMÖ\n",
        "Þórður,Guðjónsson,Höfn\nGuðrún,Þórðardóttir,Ísafjörður\n",
        "a,b\né,ü\n",
        "a,b\nHÄMÄLÄINEN,“YÖ”\nMäki,“SÄÄ”\nJärvi,SÄÄ…\nÖrn,Ö–Ä–Å\n",
    ],
    "cp1251": [
        "МАРИЯ,ВОЛКОВА,МОСКВА\nПЁТР,ЧЕХОВ,ТВЕРЬ\n",
    ],
}


def rows(encoding: str) -> str:
    header, *columns = (part.split() for part in PEOPLE[encoding])
    people = list(product(*columns))[:100]
    return "".join(",".join([*line, str(at)]) + "\r\n" for at, line in enumerate([[*header], *people]))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("encoding", PEOPLE)
def test_people_are_read_as_they_were_written(encoding: str, engine: Any, tmp_path: Path) -> None:
    """Chinese names were read as cp1252, and left under headers that nobody can read."""
    path = tmp_path / "people.csv"
    path.write_bytes(rows(encoding).encode(encoding))
    drafted = draft(path)
    assert drafted.form.encoding == encoding
    assert f'encoding = "{encoding}"' in drafted.dumps()
    assert any(f"{encoding} is a guess" in doubt for doubt in drafted.doubts) is (encoding != "utf-8")
    table = engine.read(path, drafted.form)
    header, first, *_ = (part.split() for part in PEOPLE[encoding])
    assert engine.columns(table)[:3] == tuple(header)
    assert set(engine.distinct(table, header[0])) == set(first[: -(-100 // 25)])


@pytest.mark.parametrize(("encoding", "raw"), [(e, raw) for e, each in ALSO.items() for raw in each])
def test_accents_that_one_language_has_together_tell(encoding: str, raw: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(raw.encode(encoding))
    assert encoding_of(path) == encoding


@pytest.mark.parametrize(("encoding", "mark"), [("utf-16", b""), ("utf-16-le", b""), ("utf-16-be", b"")])
def test_sixteen_bits(encoding: str, mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(mark + rows("cp1252").encode(encoding))
    drafted = draft(path)
    assert drafted.form.encoding == encoding
    assert Embedded().columns(Embedded().read(path, drafted.form))[0] == "Vorname"


@pytest.mark.parametrize("encoding", ["gb18030", "cp932", "cp949", "euc_jp"])
def test_one_wrong_byte_does_not_make_another_encoding(encoding: str, tmp_path: Path) -> None:
    """Chinese with a wrong byte was read as cp1252."""
    path = tmp_path / "a.csv"
    for at in (50, 101):
        lines = rows(encoding).encode(encoding).splitlines(keepends=True)
        lines[at:at] = [b"\xff\xff,\xe9,x,1\r\n"]
        path.write_bytes(b"".join(lines))
        with pytest.raises(InputError, match=f"line {at + 1} is not {encoding}"):
            encoding_of(path)


def test_where_no_encoding_fits_the_steward_says_which(tmp_path: Path) -> None:
    """Letters of a DOS were read as latin-1, which has signs nobody sees in their place."""
    path = tmp_path / "a.csv"
    path.write_bytes("name,town\nMüller,Köln\nGrün,Würzburg\n".encode("cp850"))
    with pytest.raises(InputError, match="line 2 is neither UTF-8 nor cp1252"):
        encoding_of(path)
    assert draft(path, Form(encoding="cp850"), guess_encoding=False).form.encoding == "cp850"


def german(records: int = 60) -> list[bytes]:
    people = [
        f"{'MF'[i % 2]},{20 + i % 9},{('Köln', 'Königstraße 12')[i == 7]},grün\n" for i in range(records)
    ]
    return [b"sex,age,place,colour\n", *(line.encode() for line in people)]


def damaged(how: str) -> tuple[bytes, int]:
    """A file that was written in UTF-8 and is not all of it; and the line where that is so."""
    lines = german()
    if how == "a byte":
        lines[41] = b"M,3\xff,K\xc3\xb6ln,gr\xc3\xbcn\n"
    elif how == "a byte in a small file":
        lines = [*lines[:4], b"M,33,x,gr\xfcn\n"]
        return b"".join(lines), 5
    elif how == "cut off":
        return b"".join(lines)[:-4] + b"\xc3", 61
    elif how == "two files in one":
        return b"".join([*lines, *(line.decode().encode("cp1252") for line in lines[1:])]), 62
    elif how == "marked":
        return b"\xef\xbb\xbf" + b"".join(line.decode().encode("cp1252") for line in lines), 2
    return b"".join(lines), 42


@pytest.mark.parametrize("how", ["a byte", "a byte in a small file", "cut off", "two files in one", "marked"])
def test_damaged_utf8_is_not_read_as_another_encoding(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One wrong byte anywhere made mojibake of the whole file, and a street in it left unseen."""
    monkeypatch.chdir(tmp_path)
    raw, line = damaged(how)
    Path("a.csv").write_bytes(raw)
    for asked in (
        ["init", "a.csv"],
        ["publish", "a.csv", "--preset", "statistics-office-3", "--rows", "persons", "-o", "out"],
    ):
        assert main(asked) != 0
        assert f"a.csv: line {line} is not UTF-8" in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()
    assert main(["init", "a.csv", "--encoding", "cp1252"]) == 0  # the steward's word counts


@pytest.mark.parametrize("encoding", [one for one in PEOPLE if one != "utf-8"])
def test_what_fits_utf8_by_chance_is_no_damaged_file(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(rows(encoding).upper().encode(encoding, errors="ignore"))
    assert isinstance(encoding_of(path), str)


def test_who_says_the_encoding_is_not_told_that_it_is_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(rows("cp1252").encode("cp1252"))
    assert main(["init", str(path), "--encoding", "cp1252", "-o", str(tmp_path / "p.toml")]) == 0
    text = (tmp_path / "p.toml").read_text()
    assert "is a guess" not in text


def test_a_chinese_file_is_released_in_its_own_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    people = [f"{'男女'[i % 2]},{('北京', '沈阳')[i % 2]},{20 + i % 9}\n" for i in range(90)]
    Path("a.csv").write_bytes(("性别,城市,年龄\n" + "".join(people)).encode("gb18030"))
    asked = ["publish", "a.csv", "--preset", "statistics-office-3", "--rows", "persons", "-o", "out"]
    assert main(asked) == 0
    assert "gb18030 is a guess" in capsys.readouterr().err
    assert main(["verify", "out"]) == 0
    assert Path("out/data.csv").read_text("gb18030").startswith("性别,城市,年龄")
    assert Policy.load("out/policy.toml").form.encoding == "gb18030"
