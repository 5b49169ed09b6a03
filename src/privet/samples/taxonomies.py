"""Taxonomy trees of the sample tables, as nested dicts, and how to walk them.

A tree has one key, its root. Below a node stand either further nodes (a dict) or its leaves (a list);
a leaf that has inner nodes for neighbours is written with an empty list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

Tree: TypeAlias = "Mapping[str, Tree | list[str]]"


def paths(tree: Tree, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Root to leaf, for each leaf in order.

    >>> list(paths({"ANY": {"Artist": ["Writer", "Dancer"], "Other": []}}))
    [('ANY', 'Artist', 'Writer'), ('ANY', 'Artist', 'Dancer'), ('ANY', 'Other')]
    """
    for label, below in tree.items():
        here = (*above, label)
        if isinstance(below, list):
            yield from ((*here, leaf) for leaf in below) if below else (here,)
        else:
            yield from paths(below, here)


def leaves(tree: Tree, below: str | None = None) -> tuple[str, ...]:
    """All leaves, or those below one node."""
    return tuple(path[-1] for path in paths(tree) if below is None or below in path)


def levels(tree: Tree) -> int:
    """How many nodes the longest path has, root and leaf included."""
    return max(len(path) for path in paths(tree))


# Mohammed (2012), table 5.5, prints only how many leaves and levels each tree has: these have as many.
ADULT: Mapping[str, Tree] = {
    "workclass": {
        "ANY": {
            "With-pay": {
                "Gov": {"Federal-gov": [], "Non-federal": ["Local-gov", "State-gov"]},
                "Self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
                "Private": [],
            },
            "Unpaid": ["Without-pay", "Never-worked"],
        }
    },
    "education": {
        "ANY": {
            "No-post-secondary": {
                "Elementary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
                "Secondary": {"Junior": ["9th", "10th"], "Senior": ["11th", "12th", "HS-grad"]},
            },
            "Post-secondary": {
                "Some-college": [],
                "Associate": ["Assoc-acdm", "Assoc-voc"],
                "University": {"Bachelors": [], "Graduate": ["Masters", "Prof-school", "Doctorate"]},
            },
        }
    },
    "marital-status": {
        "ANY": {
            "Married": {
                "Spouse-present": ["Married-civ-spouse", "Married-AF-spouse"],
                "Spouse-absent": ["Married-spouse-absent"],
            },
            "Not-married": {"Never-married": [], "Once-married": ["Divorced", "Separated", "Widowed"]},
        }
    },
    "occupation": {
        "ANY": {
            "White-collar": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
            "Blue-collar": [
                *("Craft-repair", "Farming-fishing", "Handlers-cleaners"),
                *("Machine-op-inspct", "Transport-moving"),
            ],
            "Other-work": ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"],
        }
    },
    "relationship": {
        "ANY": {
            "Family": ["Husband", "Wife", "Own-child", "Other-relative"],
            "Non-family": ["Not-in-family", "Unmarried"],
        }
    },
    "race": {
        "ANY": {"White": [], "Non-white": ["Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]}
    },
    "sex": {"ANY": ["Male", "Female"]},
    "native-country": {
        "ANY": {
            "Americas": {
                "Northern": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
                "Latin": {
                    "Caribbean": [
                        *("Cuba", "Jamaica", "Haiti", "Dominican-Republic", "Puerto-Rico", "Trinadad&Tobago"),
                    ],
                    "Mainland": [
                        *("Mexico", "Honduras", "Ecuador", "Columbia"),
                        *("Guatemala", "Nicaragua", "El-Salvador", "Peru"),
                    ],
                },
            },
            "Europe": {
                "West": ["England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands"],
                "South-East-Europe": ["Greece", "Italy", "Portugal", "Poland", "Hungary", "Yugoslavia"],
            },
            "Asia": {
                "East": ["China", "Hong", "Taiwan", "Japan", "South"],
                "South-East-Asia": ["Cambodia", "Laos", "Thailand", "Vietnam", "Philippines"],
                "South-West-Asia": ["India", "Iran"],
            },
        }
    },
}

_GROUPS: Tree = {"ANY": {"Rh+": ["O+", "A+", "B+", "AB+"], "Rh-": ["O-", "A-", "B-", "AB-"]}}

PATIENTS: Mapping[str, Tree] = {
    "job": {
        "ANY": {
            "White-collar": {
                "Professional": ["Doctor", "Lawyer", "Teacher", "Engineer"],
                "Office": ["Clerk", "Accountant", "Manager"],
            },
            "Blue-collar": {
                "Technical": ["Carpenter", "Technician", "Electrician"],
                "Non-Technical": ["Mover", "Janitor", "Driver", "Cook"],
            },
            "Not-working": ["Retired", "Student", "Homemaker"],
        }
    },
    "sex": {"ANY": ["M", "F"]},
    "ethnicity": {
        "ANY": {
            "Asian": {
                "East-Asian": ["Chinese", "Japanese", "Korean"],
                "South-Asian": ["Indian", "Pakistani"],
            },
            "European": ["Northern-European", "Southern-European", "Eastern-European"],
            "African": ["West-African", "East-African", "Caribbean"],
        }
    },
    "birth_country": {
        "ANY": {
            "Europe": {
                "West": ["France", "Germany", "Netherlands"],
                "North": ["Sweden", "Denmark"],
                "East": ["Poland", "Romania"],
            },
            "Asia": {"East-Asia": ["China", "Japan", "Vietnam"], "South-Asia": ["India", "Pakistan"]},
            "Africa": ["Ghana", "Kenya", "Morocco"],
        }
    },
    "marital_status": {
        "ANY": {"Single": ["Never-married", "Divorced", "Widowed"], "Couple": ["Married", "Partnership"]}
    },
    "education": {
        "ANY": {
            "School": {"Basic": ["Unschooled", "Primary"], "Secondary": ["Lower", "Upper"]},
            "Beyond": {"Vocational": [], "University": ["Bachelor", "Master", "Doctorate"]},
        }
    },
    "language": {
        "ANY": {
            "Indo-European": {
                "Germanic": ["English", "German", "Dutch"],
                "Romance": ["French", "Spanish"],
                "Slavic": ["Polish", "Russian"],
                "Indic": ["Hindi", "Urdu"],
            },
            "Other-language": ["Mandarin", "Arabic", "Vietnamese"],
        }
    },
    "insurance": {
        "ANY": {"Public": ["National", "Regional"], "Private": ["Basic", "Premium"], "Uninsured": []}
    },
    "residence": {
        "ANY": {"Urban": ["Centre", "Suburb"], "Rural": ["Town", "Village", "Farm"], "No-fixed-home": []}
    },
    "smoking": {"ANY": {"Never": [], "Ever": {"Former": [], "Current": ["Light", "Heavy"]}}},
    "alcohol": {"ANY": {"Abstains": [], "Drinks": {"Rarely": [], "Regularly": ["Weekly", "Daily"]}}},
    "hospital": {
        "ANY": {
            "North-region": {"Northport": ["St-Anne", "Harbour"], "Hillford": ["Hillford-General"]},
            "South-region": {"Southgate": ["Royal", "Children", "Mercy"], "Lakeside": ["Lakeside-Clinic"]},
        }
    },
    "ward": {
        "ANY": {
            "Surgical": ["General-surgery", "Orthopaedics", "Cardiac-surgery", "Neurosurgery"],
            "Medical": {"Internal": ["Haematology", "Oncology", "Gastroenterology"], "Elderly-care": []},
            "Acute": ["Intensive-care", "Emergency"],
            "Maternity": [],
        }
    },
    "admission_type": {
        "ANY": {"Planned": ["Elective", "Day-case"], "Unplanned": ["Emergency-room", "Transfer", "Walk-in"]}
    },
    "referred_by": {
        "ANY": {"Community": ["Family-doctor", "Clinic", "Self"], "Institution": ["Hospital", "Care-home"]}
    },
    "discharged_to": {
        "ANY": {
            "Home": ["Home-alone", "Home-with-care"],
            "Care": {"Short-term": ["Rehabilitation", "Respite"], "Long-term": ["Nursing-home", "Hospice"]},
            "Died": [],
        }
    },
    "anaesthesia": {
        "ANY": {"Awake": [], "Local": ["Topical", "Nerve-block"], "Central": ["Spinal", "General"]}
    },
    "mobility": {"ANY": {"Independent": [], "Assisted": ["Stick", "Frame", "Wheelchair"], "Bedbound": []}},
    "diet": {"ANY": {"Unrestricted": [], "Restricted": {"Meatless": ["Vegetarian", "Vegan"], "Faith": []}}},
    "antibody_screen": {
        "ANY": {"Negative": [], "Positive": {"Rhesus": ["Anti-D", "Anti-E"], "Kell": ["Anti-K"]}}
    },
    "mother_group": _GROUPS,
    "father_group": _GROUPS,
}

# Figures 2.2 and 3.2 of Mohammed (2012), rebuilt from the tables and the text around them.
# The leaves of an age tree are intervals: its numbers are below them.
CHAPTER_2: Mapping[str, Tree] = {
    "Job": {"ANY": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Writer", "Dancer"]}},
    "Sex": {"ANY": ["Male", "Female"]},
    "Age": {"[30-40)": ["[30-35)", "[35-40)"]},
}

CHAPTER_3: Mapping[str, Tree] = {
    "Job": {
        "ANY_Job": {
            "White-collar": {"Professional": ["Doctor", "Lawyer"]},
            "Blue-collar": {"Technical": ["Carpenter", "Technician"], "Non-Technical": ["Mover", "Janitor"]},
        }
    },
    "Sex": {"ANY_Sex": ["M", "F"]},
    "Age": {"[1-99)": {"[1-60)": ["[1-30)", "[30-60)"], "[60-99)": []}},
}
