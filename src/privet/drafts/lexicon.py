"""What the name of a column says about it: words, stems and parts of words, in several languages.

`word` is a whole word of the name, `stem-` how one begins, `-part-` any part of the name without its blanks
and marks. Names are taken apart at capitals, digits and marks, so "nameFirst", "name.first" and "FIRST_NAME"
are the same two words. Lists are general, not made for one table: what they do not know is left to what the
values look like, and in doubt to the steward.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Words:
    """Some words that say the same about a column."""

    text: str

    @cached_property
    def said(self) -> list[str]:
        return unaccented(self.text).lower().split()

    @cached_property
    def whole(self) -> frozenset[str]:
        return frozenset(w for w in self.said if "-" not in w)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return tuple(w[:-1] for w in self.said if w.endswith("-") and not w.startswith("-"))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return tuple(w.strip("-") for w in self.said if w.startswith("-") and w.endswith("-"))

    def speak(self, name: str) -> bool:
        """Is one of them in the name?"""
        words = taken_apart(name)
        if not self.whole.isdisjoint(words) or any(w.startswith(self.stems) for w in words if self.stems):
            return True
        if name.strip().lower() in self.whole:  # "a1c", which is taken apart
            return True
        squashed = "".join(words)
        return any(part in squashed for part in self.parts)


def taken_apart(name: str) -> list[str]:
    """The words of a name in small letters without accents; with a number behind it, also without.

    >>> taken_apart("nameFirst"), taken_apart("DOB_yr2"), taken_apart("Größe (cm)")
    (['name', 'first'], ['dob', 'yr2', 'yr'], ['grosse', 'cm'])
    """
    plain = unaccented(name)
    plain = re.sub(r"\bID(?=[a-z]{2})", "ID ", plain)  # "IDunit"
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    words = []
    for word in re.findall(r"[^\W\d_]+[0-9]*|[0-9]+", plain.lower()):
        words.append(word)
        if bare := word.rstrip("0123456789"):
            words += [bare] if bare != word else []
    return words


def unaccented(text: str) -> str:
    """Without accents, and without the signs that some scripts put around their letters."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(mark for mark in plain if unicodedata.category(mark)[0] != "M")


# What names one person, an entry in a register, a place to the door, or can say anything.
IDENTIFIERS = Words("""
    id ids uid uuid guid pid pnr hhidpn ssn sin nin nino nhs mrn ein tin npi dni nie nif cpf rut nir bsn pesel
    aadhaar passport reisepass pasaporte passeport ausweis- -passportn- personnummer cpr fodselsnummer
    name names surname forename -firstname- -lastname- -fullname- -username- -nickname- -filename- nick
    lname fname mname gname sname lastnm firstnm
    login alias initials voorletters voorl -nachname- -vorname- -familienname- -geburtsname-
    nom prenom nome cognome sobrenome nombre apellido- achternaam voornaam
    etunimi sukunimi imie nazwisko fornamn efternamn email e-mail mail
    courriel correo phone telephone tel telefon- telefone mobile handy fax -phoneno- address addr street
    adresse anschrift strasse rue calle direccion indirizzo adres
    -hausn- -huisn- -houseno- -housenum- iban bic swift -accountn-
    -kontonummer- kontonr -creditcard- -cardn- -creditcardn- licence license plate kennzeichen vin url uri
    website homepage twitter facebook instagram linkedin ip ipaddress mac imei imsi photo foto fingerprint
    signature unterschrift barcode rownames rowname rownum recno seqn seqno serial lfdnr laufnummer docket
    -casen- caseid caseno aktenzeichen aktennummer fallnummer -kundenn- -patientenn- -versichertenn-
    -personaln- -mitgliedsn- -steuern- -matrikeln- -membern- -policyn- -registern- -invoicen- -ordern-
    -customern- -studentn- -employeen- -medicaln- lat latitude lon lng longitude breitengrad laengengrad
    coordinates coords geom geometry gps geohash note notes comment- remark- bemerkung- kommentar-
    anmerkung- notiz- remarque- observaciones freitext freetext narrative
    cvv cvv2 cvc ccv -ccnum- -ccno- hn hnr -hausnr- easting northing -xcoord- -ycoord- -xloc- -yloc-
    -locx- -locy- imię isim soyad- 姓名 氏名 名前 성명 이름
    -姓名- -氏名- имя фамили- фио ονομ- επωνυμ- اسم الاسم नाम
    телефон- тел 电话 手机 電話 전화 -电话- -手机- -電話- هاتف الهاتف الجوال फ़ोन मोबाइल τηλ τηλεφων- puhelin-
    telefono gsm адрес- 地址 住址 住所 주소 -地址-
    -住址- -住所- عنوان العنوان पता διευθυνσ- adress osoite lakcim-
    adresa -ticketn-
""")
# The same, but of many another thing as well: only where values are many.
PERHAPS_IDENTIFIERS = Words("""
    account acct case user link index cell contact image device handle person subject respondent customer
    client member patient employee student number nr nummer numero no key code token doctor physician arzt
    nurse officer judge manager teacher lawyer witness spouse mother father
""")
# Who is meant by a number where a column is called by nothing else ("Subject": 308); of the second list only
# where there are more of them than persons in a household, kinds of a case or grades of a teacher.
PERSONS = Words("""
    subject subj respondent participant individual indiv patient proband testperson versuchsperson vpn
    person pupil interviewee consumer konsument consommateur consumidor consumatore panelist juror
""")
PERHAPS_PERSONS = Words("""
    respond student schueler client customer kunde kundin member mitglied employee mitarbeiter worker user
    player child infant twin couple dyad family famil- fam household haushalt hh case fall episode obs
    observation record rec entry doctor physician arzt nurse teacher lehrer lawyer judge officer witness
    interviewer rater manager provider nr no nummer num key driver fahrer tenant mieter landlord vermieter
    resident bewohner defendant plaintiff claimant contestant candidate applicant bewerber nominee passenger
    guest gast borrower donor voter athlete runner referee coach artist author actor passagier pasazer
    eleve prof professor mentor enumerator sch chauffeur betreuer therapist carer agent contractor
    vendor supplier assignee approver heir mom mum mam dad papa tch
    medico medica medecin artsen arts verpleger pfleger krankenschwester infirmiere enfermera zeuge temoin
    testigo autor auteur fahrerin conductor conducteur
    deceased inmate prisoner suspect victim offender beneficiary recipient booking badge cookie device invoice
    dossier akte expediente sprawa locker extension voucher
""")
# By what a whole family is called.
FAMILIES = Words("famil- fam sippe clan lastname surnames")
# Somebody beside the person: by texts they are called; numbers say how old or how tall they are.
RELATIVES = Words("""
    spouse partner husband wife mother father parent guardian sibling brother sister son daughter baby
    owner host neighbour neighbor friend boss supervisor chef godparent kin nok contact referrer referee
    ehemann ehefrau ehepartner gatte gattin mutter vater eltern vormund nachbar bruder schwester sohn tochter
    epoux epouse conjoint mere pere tuteur voisin frere soeur fils fille conyuge esposo esposa marido madre
    padre tutor hermano hermana hijo hija coniuge moglie marito fratello sorella figlio figlia
    zona maz matka ojciec
""")
# Which of several somebody is ("next of kin", "referring physician"): beside them stands who it is.
_WHICH = frozenset(
    (
        *("of", "the", "my", "next", "first", "second", "primary", "main", "emergency", "treating", "legal"),
        *("family", "referring", "ordering", "attending", "responsible", "assigned", "lead", "other"),
        *("previous", "current", "behandelnder", "zustandiger", "traitant", "responsable", "tratante"),
    )
)
COUNTERS = frozenset(("no", "nr", "num", "number", "nummer", "numero", "code", "key", "index"))
_AS_IT_WAS = frozenset(
    ("sk", "pk", "fk", "key", "ref", "orig", "original", "old", "new", "raw", "anon", "coded", "seq", "idx")
)
_WHO = """
    u?subj(ect)?|pat(ient)?|pt|pers(on)?|u?se?r|stud(ent)?|pupil|emp(l|loyee)?|cust(omer)?|cli(ent)?|memb?(er)?|
    hh|h(ouse)?hold|fam(ily)?|resp(ondent)?|part(icipant)?|indi?v?(idual)?|case|child|mom|moth(er)?|dad|
    fath?(er)?|wife|husb(and)?|spouse|twin|sib(ling)?|worker|player|teacher|doc(tor)?|phys(ician)?|
    prov(ider)?|nurse|judge|officer|acct|account|rec(ord)?|obs|row|line|entry|seq|enc(ounter)?|h?adm|stay|
    claim|loan|order|trans|txn|invoice|policy|ticket|device|session|kunden|patienten|personal|mitglieds|
    matrikel
"""
_NUMBERED = re.compile(
    rf"({_WHO})(ids?|idn|no|nr|numb?|number|nbr|code|key|pn) | p?id(no|nr|num|number|code|n|x|hh|pers|ind)",
    re.VERBOSE,
)
_INITIALS = re.compile(
    r"[a-z]{1,4}id|[a-z]{2,6}(?:num|nbr)"
)  # "hhid", "nsid": of something that has a number
_NO_INITIALS = Words("aid paid said laid maid raid avid acid bid mid did kid grid void ovoid covid lipid")


def numbered(name: str) -> bool:
    """Does a name speak of the number of a person or an entry in one word?

    >>> numbered("patientid"), numbered("SUBJNO"), numbered("pidnum"), numbered("paid")
    (True, True, True, False)
    """
    return any(_NUMBERED.fullmatch(word) for word in taken_apart(name))


def key_of_person(name: str) -> bool:
    """Is it the key of a person in a warehouse, or a person's number as it was ("PersonSK", "subject_orig")?

    >>> [key_of_person(name) for name in ("ADO_PersonSK", "subject_orig", "old_person", "risk")]
    [True, True, False, False]
    """
    *before, last = taken_apart(name) or [""]
    return last in _AS_IT_WAS and bool(before) and PERSONS.speak(before[-1])


def initialled(name: str) -> bool:
    """Does it end like one, with letters before it that may be anybody's?

    >>> initialled("nsid"), initialled("acid")
    (True, False)
    """
    return any(_INITIALS.fullmatch(w) and w not in _NO_INITIALS.whole for w in taken_apart(name))


def nothing_but(words: Words, name: str) -> bool:
    """Is a column called by one of them, and by nothing else than that it counts them?

    >>> [nothing_but(PERSONS, name) for name in ("Subject", "subject_code", "subject of the letter", "nr")]
    [True, True, False, False]
    """
    said = [word for word in taken_apart(name) if not word.isdigit()]
    named = [word for word in said if words.speak(word)]
    return bool(named) and all(word in COUNTERS for word in said if word not in named)


def somebody(name: str) -> bool:
    """Is a column called by a person and by nothing else, but which of several it is?

    >>> [somebody(name) for name in ("Doctor", "next_of_kin", "mother", "doctor visits", "mother's age")]
    [True, True, True, False, False]
    """
    words = [word for word in taken_apart(name) if word not in _WHICH]
    return any(nothing_but(who, " ".join(words)) for who in (PERSONS, PERHAPS_PERSONS, RELATIVES))


# Whose name it is, where it is nobody's.
THINGS = Words("""
    hospital clinic klinik company firm firma employer arbeitgeber school schule college university
    product produkt item brand drug medication disease file column variable station stop city town country
    region state place team club department abteilung ward course movie film song event category class
    type group party occupation job program programme project
""")
DATES = Words("""
    date datum fecha fec fch dob geburtsdatum geburtstag birthday birthdate -birthd- geburtsjahr birthyear
    timestamp datetime
    -出生日期- -生年月日- -생년월일- -日期- дата ημερομην- ημ تاريخ
    तिथि dato pvm fodselsdato gebdat epoch unixtime ts
    datenum
""")
DATE_PARTS = Words("""
    year yr jahr annee ano month monat mois mes day tag jour dia -birthy- -birthm- -birthd-
""")
# What nobody may learn about a person: health, money, belief, opinion, crime, what others think of a person.
SENSITIVE = Words("""
    dx -diagnos- patolog- pathol- choroba- hastalik- doenca- cid10 uitkering- bolsa beca bakiye kredi
    sozialhilfe- hartz zwiazek sindicat- sindacat- syndicat- caste maas-
    disease- illness- condition- symptom- icd icd9 icd10 surg- procedure operation- treat-
    therap- medicat- medic- drug- dose dosage dosis hiv aids mental depress- anxiety disab- handicap-
    genetic- genom- gene genotype allele dna snp transplant- biops- tumor- tumour- cancer- carcino-
    metasta- leuk- lymph- chemo- radiat- radiolog- radio- asthma bronch- tubercul- tb ulcer- colitis
    hepat- cough- fever diabet- polio allerg- infect- virus viral cmv hbv hcv covid pregnan- gestat-
    abort- contracept- cholest- chol hdl ldl trig- triglyc- glucose hba1c insulin bilirubin bili albumin
    creatinin- creat urea bun gfr egfr alt ast alp ggt alk phos platelet- plt hemo- haemo- hgb hb wbc rbc
    crp esr tsh psa cd inr protime prothrom- copper sodium potassium calcium bp sbp dbp -bloodp- systol-
    diastol- pulse heart- cardi- ecg ekg nyha stroke hypert- edema oedema ascit- spleen liver kidney renal
    lung- pulmon- respir- oxygen apgar ecog karno- gcs sofa apache icu intubat- ventil- bmi smok- smk-
    tobacco cigar- alcohol- drink- beer wine cocaine heroin opioid substance addict- pain- headache-
    nausea vomit- diarr- blood- urin- stool injur- fracture- wound- trauma- dead death died mortal-
    surviv- surv survtime relaps- recur- remission cens censor- censored event- placebo arm arms trt rx
    randomi- baseline adverse hospitali- readmi- discharge_to outcome- prognos- stage staging krankheit-
    -gehalt- -einkommen- totalpay basepay grosspay netpay sueldo- payout-
    hiv- -基本給- -給料- -年収-
    befund- medikament- blutdruck schwanger- maladie- enfermedad- traitement tratamiento sintoma-
    malattia
    ziekte salar- wage- income- earn- pay paid payment- payroll debt- loan- credit- balance- asset-
    saving- mortgage- amount- amt price cost- fee fees installment- instalment- interest principal tax
    taxes lien- bankrupt- delinq- default- collection- expens- expend- cash fund- transfer- checking
    girokonto improv- receipt- disburs- contribut- refund- repay- budget- value- eur usd gbp euro- dollar-
    capital dividend- premium- claim- pension- welfare benefit- poverty stock- utili- overdue late debit
    rate rates hike bonus gehalt- lohn- einkommen- schulden vermoegen saldo kosten- preis- umsatz- betrag
    miete- salaire- revenu- dette- montant- solde salario- ingreso- deuda- importe stipendio reddito renda
    salaris inkomen- relig- belief- church faith konfession- politic- partei- gewerkschaft- union
    affiliation- vote- voting orientation- sexual- homo homosex- affair- attitude- opinion- trust- satisf-
    happi- approv- ideolog- liberal- conserv- poverty stigma- consent- crim- convict- offen- arrest-
    charge- felon- fel misd- juv- jail- prison- incarcer- recid- violen- victim- assault- weapon- police-
    force resist- parole- paro probation- prior- prio sentenc- vergehen straf- perform- evaluat- rating-
    rate_ attrition fired dismiss- involvement grade_point gpa iq risk- -risk- homeless- resul- befunde
    balance callback- skill-
    -diagno- -dijagno- rozpoznan- tan\u0131 tani tanilar dg диагноз- -诊断- -診断- -진단- -病名- تشخيص التشخيص
    διαγνωσ- रोग निदान -chandoan- sygdom- sjukdom- sykdom- betegseg- sairaus- bolest boal-
    -motivodeconsulta- -chiefcompl- health- hlth -hlth- gesundheit- sante salud -ulcer- -heart- hf hbp
    chf chd cvd cad copd ckd esrd pvd dvt afib htn mgus nervous- nerves hormon- sida vih rqth ivdrug-
    -medication- -tumou- -tumor- -cancer- hemophil- haemophil- sysbp diasbp diabp a1c crea cig- hep-
    chol- pica gall gallbl- gallst- obes- dyslex- dyslecti- autis- adhd epilep- dement- alzheim-
    parkinson- schizo- bipolar psychi- psycholog- suicid- migrain- anemi- anaemi- arthri- sclero- bowel-
    -cough- -fever- -contracep- -birthcontrol- gvhd agvhd cgvhd exposure- lbw vlbw bwght зарплат- оклад-
    доход- болезн- заболев- -工资- -薪- -収入- -給与- -급여- راتب الراتب μισθ- εισοδημ- वेतन आय maaş palk-
    fizetes- jovedelem- salariu- venit wynagrodz- pensja zarobk- dochod- kredyt- kredit- -wage- earning-
    pubrec reject- denied foreclos- unem unem- unemploy- arbeitslos- chomage desempleo- bezrobot- wealth
    networth
""")
TARGETS = Words("target label outcome survived readmitted transfused transfuse churn")
# Said of many things, among them judgements about people: where nothing else is known.
PERHAPS_SENSITIVE = Words("""
    status score- state_of problem- reason- type_ level_of marks exam- test- quality
    perc percentage cgpa cijfer- punteggio voto mark zensur- abil abilit- complaint-
""")
# What others may know about a person.
QUASI = Words("""
    age ages aged agegr agegrp agecat -agegroup- sex gender male female birth- born -birth- zip zipcode
    postcode postal plz postleitzahl city town hometown -town- village vill- county region state country
    land province territory district borough neighbo- suburb community municipal- gemeinde precinct place
    location area nationality nation- native citizen- race race- ethnic- hispanic latino language job-
    occup- profession- work- employ- emp industry sector department position title role rank team club
    season series division league education educ- degree school- college- university student grade
    graduat- year_of marital marri- -marri- mar spous- husb- wife divorc- widow- relation- household-
    family- famil- child- kids siblings parents housing home- owner- rent floor floors storey storeys flooring
    roof roofing wall walls stockwerk etage height ht hgt weight wt wgt
    length width size hair eye admitted admission- discharged visit- ward hospital- clinic- site travel-
    commut- distance- dist vehicle car make model experience seniority tenure military veteran time hour-
    century decade class fare ticket embarked payor insur- plan alter geschlecht geburts- ort wohnort
    stadt bundesland staats- beruf- familienstand bildung- abschluss groesse grosse gewicht kinder
    haushalt- sprache herkunft konfessionslos naissance ville pays metier sexe edad sexo nacimiento ciudad
    pais profesion eta sesso nascita citta lavoro idade nascimento cidade leeftijd geslacht woonplaats
    beroep
    occ emploi jobtitle oficio ocupacion ocupacao occupazione zawod yrke stilling- ammatti foglalkoz-
    meslek povolani -职业- -职务- -职位- -職業- -직업- профессия должность وظيفة المهنة επαγγελμα व्यवसाय
    miejscowosc poblacion localidad localite localita kommun kommune postort gmina miasto mesto oras
    sehir il ilce plaats город 城市 المدينة πολη शहर -部门- -部署- -부서- sport sports cp -codepostal-
    irsz iranyitoszam postinro bairro barrio telepules- municipio- -都道府県- -市区町村- -luogo-
    quartiere paikkakunta -kodpocztowy- cap cep postnummer postnr postinumero psc
    -邮编- -郵便番号- -우편번호- индекс -年龄- -年齡- -年齢- 나이
    العمر السن возраст ηλικια उम्र आयु ålder ika kor eletkor vek varsta tuoi umur yas wiek edades -性别-
    -性別- 성별 الجنس пол φυλο लिंग kjonn køn sukupuoli nem pohlavi pohl plec cinsiyet sexul spol -gioitinh-
    kelamin гражданств- -国籍- الجنسية civilite -estadocivil- -婚姻-
""")
# When somebody was born.
BIRTH = Words("""
    birth- born dob yob byear byr -birth- -dob- -bdate- -bday- bth -bthyr- -yrborn- -bornyr- jahrgang -fodels-
    生年
    geb geboren geburts- -gebdat- naissance nacimiento nascita nascimento
    nasc nac geboorte- dogum urodz- fodt fodsel- fodd syntyma- syntynyt narozen- nar szulet- nascut- nastere-
    -出生- -生年月日- -생년월일- -생일- рожд- γεννησ- ميلاد الميلاد जन्म -ngaysinh- -tanggallahir- lahir
""")
POSTAL = Words("""
    irsz postinro
    zip zipcode zip4 zipf postcode postal plz postleitzahl -zip- -postalc- zcta cap cep cp kod -codigopostal-
    -codepostal- -kodpocz- postnummer postnr postinumero psc iranyitoszam -邮编- -郵便番号- -우편번호- индекс
""")
PLACES = Words("""
    city town hometown -town- village county region state country province territory district borough
    neighbo- place location area municipal- gemeinde ort wohnort stadt land bundesland ville pays ciudad
    pais cidade woonplaats birthplace -place- station stop street
    miejscowosc poblacion localidad localite localita kommun kommune postort gmina miasto mesto oras
    sehir plaats город 城市 πολη المدينة शहर citta
    bairro barrio telepules- municipio- -都道府県- -市区町村- -luogo- quartiere paikkakunta
""")
# What others know of anybody, where it is what a name is about: its last word, or the last before an "at".
OF_ANYBODY = frozenset(
    (
        *("sex", "gender", "race", "ethnicity", "nationality", "citizenship", "birthplace", "zip", "zipcode"),
        *("postcode", "occupation", "job", "profession", "marital", "education", "geschlecht", "beruf"),
        *("familienstand", "staatsangehorigkeit", "sexe", "metier", "nationalite", "sexo", "nacionalidad"),
    )
)
AT = frozenset(
    ("at", "of", "on", "before", "after", "when", "during", "for", "by", "bei", "zum", "vor", "nach")
)
# Where a secret thing happened.
WHERE = frozenset(
    (
        *("city", "town", "village", "county", "country", "province", "municipality", "hometown", "place"),
        *("precinct", "district", "center", "centre", "clinic", "hospital", "facility", "ward"),
    )
)
# Studies of survival have a time and what happened then.
OUTCOMES = frozenset(("status", "death", "died", "dead", "cens", "censored", "event", "survived", "arrest"))
FOLLOWED = frozenset(("time", "days", "weeks", "week", "months", "futime", "followup", "survtime"))
# Who wrote a row, or is in charge of it: colleagues, by their names or logins.
STAFF = Words("""
    attending approver- reviewer- operator- clerk handler editor creator recorder caseworker- -teamlead-
    supervisor- registrar surgeon clinician prescriber sachbearbeit- bearbeiter- betreuer- doradca advisor
    adviser consultant assignee -assignedto- -enteredby- -createdby- -updatedby- -modifiedby- -editedby-
    -reviewedby- -approvedby- -signedby- -recordedby- -verifiedby- -changedby- -seenby- -treatedby-
    -handledby- -collectedby- -submittedby- -erfasstvon- -angelegtvon- -saisipar- -creepar- -creadopor-
    hospitalist teamleiter- -担当医- -担当者- -主治医- 担当 -記入者- -看護師- -医師- -담당자- -담당의-
    -주치의- 담당 -의사-
    -医生- -医师- -经办- ugyintez- doktor hekim hemsire hemsir- lekarz orvos haziorvos medewerker- medew
    behandelaar lakare lege laakari larare laerer laege врач лечащ- ιατρος γιατρος υπαλληλος
    медсестр- сотрудник- оператор- учител- pielegniark- policjant- funkcjonariusz- nauczyciel
    ogretmen tanar opettaja profesor profesora professeur professore infirmier- enfermer- verpleegkundige
    sykepleier sjukskoterska hoitaja handlaggare saksbehandler sagsbehandler kasittelija
""")
# The same, where nothing else stands beside them ("judge", and not "teacher experience").
STAFF_ALONE = Words("""
    officer officers judge judges professor instructor teacher mentor mentors enumerator enum tutor lecturer
    detective sergeant patrolman deputy magistrate prosecutor trooper inspector examiner assessor pharmacist
    midwife dentist surveyor
""")
# What has a number of its own; "account_number" names an account, "number of accounts" counts them.
_ENTRIES = Words("""
    account acct arrest booking case docket policy invoice order claim loan contract ticket receipt card file
    record incident report complaint warrant citation chart badge permit member membership patient customer
    client student employee subject crime accident credit debit transaction payment application registration
    certificate prisoner inmate konto auftrag- rechnung- vertrag- akte- bestell- facture commande dossier
    cuenta factura pedido expediente poliza sprawa umowa faktura
""")
# What makes a name one of numbers, whatever stands beside it ("payroll no", "health card", "blood bag").
_NUMBERING = Words("""
    no nr num number nummer numero numer nomor nbr ref reference referenz referencia card account acct konto
    slip bag id ids tag carte tarjeta tessera karte karta kart conta cuenta compte
""")
_KEYS = frozenset(("code", "key", "kod", "codigo"))  # also of kinds
_ENDINGS = ("nr", "nummer", "number", "ref", "card", "acct", "account", "slip", "konto", "karte")
_NO_NUMBERING = ("pref", "postcard")
_COUNTS = frozenset(("no", "num", "number", "numero", "nr"))  # in front, or in the middle: how many, or none
_COUNTERS_OF = frozenset(("num", "n", "nb", "number", "count", "no", "nr", "anzahl", "nombre", "total"))
_COUNTING = frozenset(("of", "von", "der", "de", "des", "di", "del"))
# What is counted, earned or measured: numbers that nearly everybody has to themselves, and that name nobody.
AMOUNTS = Words("""
    salar- wage- income- inkomen- earn- pay paid payment- debt- loan- credit- balance- asset- saving-
    mortgage-
    amount- amt price- cost- fee fees installment- instalment- interest principal tax taxes charge- charges
    expens- expend- spend- spent cash fund- budget- value- eur usd gbp euro- dollar- capital gain gains loss
    losses dividend- premium- pension- benefit- refund- due net gross total totals sum sums limit revenue-
    sales purchase- turnover profit- bonus deposit- contribut- disburs- receipt- wealth networth worth
    bill bills invoiced billed fare rent rents stipend- grant grants scholarship- donation- gift gifts
    gehalt- lohn lohne einkommen- brutto netto schulden vermoegen- vermogen- saldo kosten- preis- umsatz-
    betrag- miete- salaire- revenu- dette- montant- solde brut salario- ingreso- deuda- importe- valor valeur
    -gehalt- -einkommen- -salary- -income- totalpay basepay grosspay netpay overtimepay payout- sueldo- prize-
    winnings wert stipendio reddito renda receita salaris- loon dochod- wynagrodz- pensja zarobk- kredyt-
    kwota kredit-
    palk- fizetes- jovedelem- osszeg maas ucret bakiye gelir salariu- venit beca bolsa зарплат- оклад- доход-
    сумм- μισθ- εισοδημ- ποσο- راتب الراتب वेतन आय -工资- -薪- -収入- -给与- -給- -급여- -年収- -金額-
    -金额- -금액-
    weight- wt wgt fnlwgt -wgt- gewicht peso poids height length width size distance dist area mileage miles
    km meters steps calorie- kcal energy score- points punkte rank rate- time times seconds secs minutes mins
    hour- days weeks months age ages dose dosage dosis platelet- plt cd4 cd8 cd4count wbc rbc leuk- lymph-
    count counts population surv- futime duration titer titre viral load copies ferritin
""")
# Of something that several people share: where its numbers are few, they say which.
GROUPS = Words("team club company firm firma employer league sport branch")
# Answers in one's own words, as the label of a variable says it.
OPEN = Words(
    "offen offene specify specified -openended- verbatim wortlaut freitext -freetext- precisez especifique"
)
# Of a tumour, where a column beside them speaks of one.
OF_TUMOURS = frozenset(("size", "grade", "nodes", "node", "er", "pr", "her2", "ki67"))
TUMOURS = Words("chemo- tumor- tumour- cancer- carcino- metasta- hormon- radiother-")
_MONEYED = re.compile(r"[a-z]{0,5}(?:inc|income|wage|earn|earns|sal|salary)[0-9]{0,4}")
_NO_MONEY = frozenset(("zinc", "learn", "learns", "yearn", "yearns", "nasal", "basal", "vassal", "causal"))


def an_entry(name: str) -> bool:
    """Does it speak of the number of an account, an order or a case, and not of how many there are?

    >>> an_entry("account_number"), an_entry("Order No."), an_entry("number of accounts"), an_entry("account")
    (True, True, False, False)
    """
    said = [word for word in taken_apart(name) if not word.isdigit()]
    counters = COUNTERS | {"id", "ref", "reference", "nbr"}
    return len(said) > 1 and said[-1] in counters and any(map(_ENTRIES.speak, said[:-1]))


def numbering(name: str) -> bool:
    """Does it speak of numbers that are given to persons or things, and not of how many or how much?

    >>> [numbering(name) for name in ("payroll_no", "Lohnnr", "account balance", "number of loans")]
    [True, True, False, False]
    """
    said = [word for word in taken_apart(name) if not word.isdigit()]
    compound = [word.endswith(_ENDINGS) and not word.endswith(_NO_NUMBERING) for word in said]
    if not said or (AMOUNTS.speak(said[-1]) and not compound[-1]):
        return False
    if _NUMBERING.speak(said[-1]) or any(compound):
        return said[0] not in _COUNTS or len(said) == 1 or said[1] not in _COUNTING
    return any(_NUMBERING.speak(word) and word not in _COUNTS for word in said)


def counting(name: str) -> bool:
    """Does it begin by saying that it counts something?

    >>> counting("num_meds"), counting("n.visits"), counting("num")
    (True, True, False)
    """
    said = [word for word in taken_apart(name) if not word.isdigit()]
    return len(said) > 1 and said[0] in _COUNTERS_OF


def keyed(name: str) -> bool:
    """Does it speak of keys or codes, which may be those of kinds?"""
    return not _KEYS.isdisjoint(taken_apart(name))


def amounts(name: str) -> bool:
    """Does it speak of money or of a measure?

    >>> amounts("hourly wage"), amounts("atotinc"), amounts("votesmart"), amounts("claim")
    (True, True, False, False)
    """
    return AMOUNTS.speak(name) or moneyed(name)


def called_entry(name: str) -> bool:
    """Is it called by an entry alone ("ticket")?"""
    return nothing_but(_ENTRIES, name)


def moneyed(name: str) -> bool:
    """One word that ends as what somebody earns.

    >>> moneyed("atotinc"), moneyed("hrwage"), moneyed("zinc"), moneyed("province")
    (True, True, False, False)
    """
    words = (word.rstrip("0123456789") for word in taken_apart(name))
    return any(_MONEYED.fullmatch(word) and word not in _NO_MONEY for word in words)
