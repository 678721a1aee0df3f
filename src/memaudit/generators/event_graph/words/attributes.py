"""Things about a person that may change: a verb with its forms, values, details, questions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """The forms of a verb phrase that says an attribute: live, I live, she lives, lived, living."""

    base: str
    first: str
    third: str
    past: str
    ing: str
    noun: str

    @property
    def forms(self) -> tuple[str, ...]:
        """Every wording that states the attribute."""
        return (self.third, self.first, self.base, self.past, self.ing, self.noun)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing that can be known about a person."""

    verb: Verb
    values: tuple[str, ...]
    details: tuple[str, ...]
    ask: str
    """The question for the value; {who} is the person."""
    before: str = ""
    """The question for an earlier value; empty where the value never changes."""


def _regular(base: str, third: str, past: str, ing: str, noun: str) -> Verb:
    return Verb(base, base, third, past, ing, noun)


CHANGING = (
    Attribute(
        _regular("live in", "lives in", "lived in", "living in", "home city"),
        ("Porto", "Ghent", "Turku", "Leipzig", "Bilbao", "Galway", "Trieste", "Lund", "Basel",
         "Cork", "Graz", "Utrecht", "Bergen", "Tartu", "Nantes"),
        ("near the harbour", "close to the old market", "up on the hill", "right by the station",
         "just across from the library"),
        "Where does {who} live now?", "Where did {who} live before moving away?",
    ),
    Attribute(
        _regular("work for", "works for", "worked for", "working for", "employer"),
        ("Fennel Labs", "Harrow and Pike", "Northgate Freight", "the Lumen Institute",
         "Quayside Books", "Brightwater Energy", "Calder Rail", "Oakline Insurance",
         "the city archive", "Marble Arch Studios", "Tidewater Foods", "Vantage Optics"),
        ("three days a week", "on a permanent contract", "mostly from home",
         "in the planning team", "on the night shift"),
        "Who does {who} work for now?", "Who did {who} work for earlier?",
    ),
    Attribute(
        _regular("drive", "drives", "drove", "driving", "car"),
        ("a Volvo V60", "an Opel Corsa", "a Fiat Panda", "a Skoda Octavia", "a Mazda 3",
         "an old Saab 900", "a Renault Zoe", "a Toyota Yaris", "a Citroen Berlingo",
         "a Ford Transit", "a Honda Jazz"),
        ("bought second-hand", "shared with a neighbour", "on a three-year lease",
         "in a rather loud yellow"),
        "What does {who} drive at the moment?", "What did {who} drive previously?",
    ),
    Attribute(
        _regular("use", "uses", "used", "using", "phone plan"),
        ("the Swift 20 plan", "the Nomad plan", "the Unlimited Duo plan", "the Basic 5 plan",
         "the Roamer Plus plan", "the Family Four plan", "the Studio plan", "the Night Owl plan",
         "the Prepaid 10 plan"),
        ("paid monthly", "with roaming switched off", "on two devices", "billed to the office"),
        "Which phone plan does {who} have now?", "Which phone plan did {who} have earlier?",
    ),
    Attribute(
        _regular("bank with", "banks with", "banked with", "banking with", "bank"),
        ("Alder Savings", "First Harbour", "the Guildhall Bank", "Meridian Mutual", "Cobalt",
         "Stonebridge Union", "the Farmers' Cooperative", "Kite Money", "Larkfield Trust"),
        ("on a joint account", "with a savings pot on the side", "for both cards",
         "without any overdraft"),
        "Which bank does {who} use now?", "Which bank did {who} use earlier?",
    ),
    Attribute(
        _regular("train at", "trains at", "trained at", "training at", "gym"),
        ("the Foundry gym", "Riverside Climbing", "the Corn Mill pool", "Studio Nine",
         "the Eastgate boxing club", "the Velodrome", "Parkside Pilates", "the Rowing Shed",
         "the Old School hall"),
        ("before breakfast", "twice a week", "with a personal coach", "on an off-peak pass"),
        "Where does {who} train these days?", "Where did {who} train earlier on?",
    ),
    Attribute(
        _regular("study", "studies", "studied", "studying", "language"),
        ("Greek", "Portuguese", "Finnish", "Japanese", "Welsh", "Czech", "Arabic", "Danish",
         "Basque", "Korean", "Icelandic"),
        ("with a private teacher", "at the evening school", "mainly from podcasts",
         "in a group of five"),
        "Which language does {who} study now?", "Which language did {who} study at first?",
    ),
    Attribute(
        _regular("commute by", "commutes by", "commuted by", "commuting by", "commute"),
        ("tram", "ferry", "folding bike", "the 7:10 train", "car share", "cargo bike", "bus 42",
         "electric scooter", "the night bus"),
        ("half an hour each way", "on most days", "whatever the weather",
         "with a podcast on"),
        "How does {who} commute these days?", "How did {who} commute earlier?",
    ),
    Attribute(
        _regular("work as", "works as", "worked as", "working as", "job"),
        ("a ward nurse", "a stage manager", "a surveyor", "a pastry chef", "a data analyst",
         "a court interpreter", "an archivist", "a tram driver", "a landscape gardener",
         "an optician", "a piano tuner"),
        ("four days a week", "with a lot of travel", "under a new team lead",
         "for slightly better pay"),
        "What is the job of {who} now?", "What was the earlier job of {who}?",
    ),
    Attribute(
        _regular("play", "plays", "played", "playing", "instrument"),
        ("the cello", "the accordion", "the bass clarinet", "the banjo", "the viola", "the oboe",
         "the double bass", "the harp", "the trombone"),
        ("in a small orchestra", "mostly for fun", "on a borrowed instrument",
         "every Thursday evening"),
        "Which instrument does {who} play now?", "Which instrument did {who} play at first?",
    ),
)  # fmt: skip

LASTING = (
    Attribute(
        Verb("be allergic to", "am allergic to", "is allergic to", "was allergic to",
             "being allergic to", "allergy"),
        ("peanuts", "penicillin", "shellfish", "cat hair", "birch pollen", "sesame", "latex",
         "bee stings", "kiwi fruit", "soy", "dust mites", "hazelnuts"),
        ("confirmed by a skin test", "badly enough to carry a pen", "ever since childhood",
         "though only mildly"),
        "What is {who} allergic to?",
    ),
    Attribute(
        Verb("be afraid of", "am afraid of", "is afraid of", "was afraid of",
             "being afraid of", "fear"),
        ("heights", "horses", "deep water", "thunder", "spiders", "lifts", "needles", "the dark",
         "crowded trains", "geese"),
        ("after a bad fall", "since a school trip", "and not ashamed of it",
         "to everyone's surprise"),
        "What is {who} afraid of?",
    ),
    Attribute(
        _regular("collect", "collects", "collected", "collecting", "collection"),
        ("railway maps", "sea glass", "matchboxes", "film posters", "fountain pens", "tin robots",
         "old stamps", "teapots", "pressed ferns", "concert tickets"),
        ("kept in the attic", "sorted by year", "some of it quite valuable",
         "mostly from flea markets"),
        "What does {who} collect?",
    ),
    Attribute(
        _regular("support", "supports", "supported", "supporting", "team"),
        ("Harbour Rovers", "the Eastfield Herons", "Port Athletic", "the Mill Town Blues",
         "Union Sands", "the Vale Wanderers", "Kingsbridge City", "the Redcliffe Rams"),
        ("with a season ticket", "through thick and thin", "because of an uncle",
         "but never on television"),
        "Which team does {who} support?",
    ),
    Attribute(
        _regular("wear", "wears", "wore", "wearing", "shoe size"),
        tuple(f"size {size} shoes" for size in range(35, 47)),
        ("with custom insoles", "in most brands", "one size up for boots", "always a wide fit"),
        "Which shoe size does {who} need?",
    ),
    Attribute(
        Verb("have", "have", "has", "had", "having", "pet"),
        tuple(f"{kind} called {name}"
              for kind in ("a cat", "a greyhound", "a parrot", "a tortoise", "a rabbit",
                           "a terrier")
              for name in ("Biscuit", "Pepper", "Miso", "Comet", "Waffle", "Pickle", "Domino")),
        ("adopted from a shelter", "fed twice a day", "and a vet visit every spring",
         "barely a year old"),
        "Which pet does {who} have?",
    ),
    Attribute(
        _regular("take", "takes", "took", "taking", "medicine"),
        ("magnesium", "iron tablets", "an antihistamine", "vitamin D", "blood pressure tablets",
         "a thyroid tablet", "cough syrup", "zinc"),
        ("every morning", "only with food", "on the doctor's advice", "until further notice"),
        "Which medicine does {who} take?",
    ),
    Attribute(
        _regular("come from", "comes from", "came from", "coming from", "birthplace"),
        ("a village near Lugo", "Reykjavik", "the Orkney islands", "Ljubljana", "Cadiz",
         "a farm outside Uppsala", "Valletta", "Gdansk", "Lerwick", "Split"),
        ("as do all the cousins", "the youngest of four", "a long way up north",
         "on the mother's side"),
        "Where does {who} come from?",
    ),
    Attribute(
        _regular("volunteer at", "volunteers at", "volunteered at", "volunteering at",
                 "volunteering"),
        ("the food bank", "the seed library", "the animal shelter", "the repair cafe",
         "the lifeboat station", "the museum shop", "the hospice garden", "the chess club"),
        ("on Saturday mornings", "with two friends", "for some years already",
         "mainly at the front desk"),
        "Where does {who} volunteer?",
    ),
)  # fmt: skip
