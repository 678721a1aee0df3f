"""Events: those that last, and those on one day."""

LASTING = (
    *(("a", f"trip to {place}") for place in ("Oslo", "Madeira", "Kyoto", "Sicily", "Quebec",
                                               "the Azores", "Vienna", "Crete", "Lapland")),
    *(("a", f"{craft} course") for craft in ("pottery", "bookbinding", "first-aid", "sailing",
                                             "woodwork", "bread-baking", "drawing")),
    *(("a", f"flat rental in {place}") for place in ("Ghent", "Malmo", "Ravenna", "Delft")),
    *(("a", f"{theme} project") for theme in ("kitchen", "lighthouse", "website",
                                              "choir", "roof")),
    ("an", "exchange in Turku"), ("an", "orchard project"), ("an", "archive project"),
    ("an", "internship at the zoo"), ("a", "stay at the coast"),
    ("a", "course of physiotherapy"), ("a", "work placement in Graz"), ("an", "art residency"),
)  # fmt: skip
LASTING_TELL = (
    "{who} [have|has] {a} {what} from {start} to {end}.",
    "{whose} {what} starts on {start} and ends on {end}.",
    "{whose} {what} runs from {start} until {end}, so plan around it.",
    "between {start} and {end}, {who} [have|has] {a} {what}.",
    "{a} {what} is booked for {whom}: it begins on {start} and is over on {end}.",
    "please block {start} to {end} for {whose} {what}.",
)
LASTING_AGAIN = (
    "{whose} {what} is still on: {start} to {end}.",
    "remember {whose} {what}? It starts on {start}.",
    "nothing has moved with {whose} {what}, which ends on {end}.",
)
LASTING_EVENT = (
    "{whose} {what}: {start} to {end}.",
    "{who} has {a} {what} from {start} to {end}.",
)
LASTING_FACT = ("{who} has {a} {what} coming up.", "{whose} {what} starts on {start}.")
LASTING_ASK = (
    ("When does {whose} {what} end?", "end"),
    ("When does {whose} {what} start?", "start"),
    ("What does {who} have on between {start} and {end}?", "what"),
)

SINGLE = (
    *(("a", f"{kind} appointment") for kind in ("dentist", "passport", "tax", "vet", "notary",
                                                "bank")),
    *(("a", f"{kind} lesson") for kind in ("driving", "surfing", "tango", "cooking", "riding")),
    *(("a", f"{kind} rehearsal") for kind in ("choir", "theatre", "quartet")),
    ("an", "eye test"), ("a", "job interview"), ("a", "house viewing"), ("a", "reunion dinner"),
    ("an", "exam"), ("a", "boiler inspection"), ("a", "book club evening"),
    ("a", "blood donation"), ("a", "farewell party"),
)  # fmt: skip
PLACES = (
    "the Lindgren building", "Mill Street", "the town hall", "the Harbour Cafe", "room 204",
    "the old station", "Saint Anne's", "the Glass House", "the north campus", "Canal Row",
)  # fmt: skip
SINGLE_TELL = (
    "{who} [have|has] {a} {what} on {start}, at {place}.",
    "{whose} {what} is on {start}; the place is {place}.",
    "put {a} {what} for {whom} in the calendar: {start}, at {place}.",
    "on {start} there is {a} {what} for {whom} at {place}.",
    "{who} finally got a date for {their} {what}: {start}, at {place}.",
)
SINGLE_AGAIN = (
    "{whose} {what} on {start} still stands.",
    "once more, {whose} {what} is at {place}.",
    "don't let anyone forget {whose} {what} on {start}.",
)
SINGLE_EVENT = (
    "{whose} {what}: {start} at {place}.",
    "{who} has {a} {what} on {start} at {place}.",
)
SINGLE_FACT = ("{whose} {what} is at {place}.", "{who} has {a} {what} on {start}.")
SINGLE_ASK = (
    ("On which day is {whose} {what}?", "start"),
    ("What does {who} have on {start}?", "what"),
)
EDGE = ("({who}, has, {what})", "({who}, {what}, {start})")
BRIEF = ("{who} has {a} {what}", "{whose} {what} was scheduled")
