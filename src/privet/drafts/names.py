"""Common given and family names of several countries: a column that holds many of them holds people.

A short list on purpose. The well-kept data packages weigh 50 MB and more or are GPL; a name that stands here
only makes a reason clearer, since a column of texts that nobody can place is an identifier anyhow.
Words that are more often something else (months, colours, cities, countries) are left out.
"""

from __future__ import annotations

from privet.drafts.lexicon import unaccented

GIVEN = """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew
    anthony mark donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason
    jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel
    gregory frank alexander raymond patrick jack dennis jerry tyler aaron jose adam nathan henry douglas
    zachary peter kyle walter ethan jeremy harold keith christian roger noah gerald carl terry sean austin
    arthur lawrence jesse dylan bryan joe billy bruce albert willie gabriel logan alan juan wayne roy
    ralph randy eugene vincent russell louis bobby philip mary patricia jennifer linda elizabeth barbara
    susan jessica sarah karen lisa nancy betty margaret sandra ashley kimberly emily donna michelle carol
    amanda dorothy melissa deborah stephanie rebecca sharon laura cynthia kathleen amy angela shirley anna
    brenda pamela emma nicole helen samantha katherine christine debra rachel carolyn janet catherine
    maria heather diane ruth julie olivia joyce kelly lauren christina joan evelyn judith megan andrea
    cheryl hannah jacqueline martha gloria teresa ann sara madison frances kathryn janice jean abigail
    alice julia judy sophia grace denise amber doris marilyn danielle beverly isabella theresa diana
    natalie brittany marie kayla alexis lori tom mike dave steve chris matt tony greg kim kate sue liz
    beth hans peter klaus jurgen juergen wolfgang heinz werner helmut gerhard horst dieter manfred uwe
    bernd rainer stefan andreas michael thomas markus matthias sebastian tobias florian lukas jonas leon
    felix maximilian moritz ursula monika petra sabine gabriele renate karin brigitte claudia susanne
    birgit heike katrin anja nicole anke silke ingrid helga gisela elke julia lena lea leonie johanna
    katharina franziska friedrich karl otto hermann jean pierre michel philippe alain patrick nicolas
    christophe laurent julien guillaume antoine francois jacques nathalie isabelle sylvie catherine
    francoise valerie sandrine celine aurelie camille manon chloe lea sophie jose antonio manuel francisco
    juan javier carlos miguel rafael pedro angel luis jorge alberto sergio pablo diego carmen josefa
    isabel dolores pilar teresa lucia paula alejandro fernando ricardo eduardo andres mateo santiago
    giuseppe giovanni antonio mario luigi francesco angelo vincenzo pietro salvatore carlo franco domenico
    bruno paolo marco andrea luca matteo lorenzo alessandro giulia francesca chiara federica silvia elena
    valentina joao antonio paulo pedro tiago rui ana maria luisa beatriz mariana ines rita fernanda
    juliana marcos jan piotr krzysztof andrzej tomasz pawel marcin michal agnieszka katarzyna malgorzata
    joanna ewa zofia ivan sergei sergey dmitri dmitry alexei aleksei vladimir nikolai mikhail olga natalia
    svetlana irina tatiana lars anders erik johan karin anna mats bjorn ingrid astrid kari ole per magnus
    henrik mette kirsten soren willem pieter johannes cornelis hendrik anneke sanne daan sem femke
    mohammed muhammad mohamed ahmed ahmad ali hassan hussein omar ibrahim yusuf mustafa khaled abdul
    fatima aisha mehmet ayse emine hatice zeynep huseyin hasan murat fatma elif wei jing li wang ming hui
    fang yan lei jun xin hiroshi takashi kenji yuki haruto sakura yoko akira minh thi van duc linh anh
    thanh raj rajesh sanjay amit anil sunil priya anjali deepak ravi suresh lakshmi lakisha latoya tamika
    ebony aisha jermaine darnell tyrone jamal hakim rasheed kareem
"""
FAMILY = """
    smith johnson williams jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson
    anderson thomas taylor moore jackson martin lee perez thompson harris sanchez clark ramirez
    lewis robinson walker allen king wright scott torres nguyen hill flores adams nelson baker
    hall rivera campbell mitchell carter roberts gomez phillips evans turner diaz parker cruz edwards
    collins reyes stewart morris morales murphy cook rogers gutierrez ortiz morgan cooper peterson bailey
    reed kelly howard ramos cox ward richardson watson brooks chavez wood bennett mendoza ruiz hughes
    price alvarez castillo sanders patel myers ross foster muller mueller schmidt schneider fischer
    weber meyer wagner becker schulz hoffmann schafer schaefer koch bauer richter klein wolf schroder
    schroeder neumann zimmermann kruger krueger hofmann hartmann lange martin bernard dubois
    petit durand leroy moreau simon laurent lefebvre michel roux fontaine rossi russo ferrari esposito
    bianchi romano colombo ricci marino greco fernandez romero alonso navarro nowak kowalski kowalczyk
    wisniewski wojcik kaminski lewandowski zielinski ivanov smirnov petrov popov andersson johansson
    karlsson nilsson eriksson larsson olsson hansen johansen olsen larsen jensen nielsen pedersen jansen
    janssen visser bakker meijer silva santos oliveira souza pereira costa ferreira almeida yilmaz kaya
    obrien oconnor oneill oreilly odonnell dangelo damico dambrosio dagostino
    demir sahin celik khan singh kumar sharma gupta chen zhang liu yang huang zhao wu zhou tanaka suzuki
    sato takahashi watanabe kim park choi tran pham le hoang
"""
PEOPLE = frozenset((GIVEN + FAMILY).split())

_LETTERS = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "\u0131": "i"}
    | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th"}
    | dict.fromkeys("'\u2018\u2019\u02bc\u02bb`\xb4", "")
)


def plain(text: str) -> str:
    """As names stand in these lists: without accents, however they are composed, and without apostrophes.

    >>> plain("José Müller"), plain("Bjo\u0308rn D\u2019Angelo"), plain("YILMAZ")
    ('Jose Muller', 'Bjorn DAngelo', 'YILMAZ')
    """
    text = text.translate(_LETTERS)
    return text if text.isascii() else unaccented(text)


def known(word: str, names: frozenset[str]) -> bool:
    """Is it one of the names, or two of which one is ("Jean-Luc")?

    >>> known("Jürgen", PEOPLE), known("Jean-Luc", PEOPLE), known("O'Brien", PEOPLE), known("red", PEOPLE)
    (True, True, True, False)
    """
    said = plain(word).casefold()
    return said in names or ("-" in said and not names.isdisjoint(said.split("-")))
