"""Sentences about attributes: told, changed, told again, stored."""

TELL = (
    "{who} {does} {value}, {detail}.",
    "{who} {does} {value} ({detail}).",
    "I don't think I mentioned that {who} {does} {value}, {detail}.",
    "for your notes: {who} {does} {value}, {detail}.",
    "you should know that {who} {does} {value}, {detail}.",
    "as far as {whose} {noun} goes: {who} {does} {value}, {detail}.",
    "not everyone knows it, but {who} {does} {value}, {detail}.",
    "did I ever say that {who} {does} {value}, {detail}?",
)
"""The first time something is said, in full."""

TELL_STATE = (
    *TELL,
    "at the moment {who} {does} {value}, {detail}.",
    "these days {who} {does} {value}, {detail}.",
    "for now, {who} {does} {value}, {detail}.",
)
"""The same for what may change."""

TELL_AGAIN = (
    "as I said, {who} {does} {value}.",
    "I may have told you already, but {who} {does} {value}, {detail}.",
    "don't forget that {who} {does} {value}.",
    "it came up again today that {who} {does} {value}, {detail}.",
    "someone asked about {whose} {noun} again. It is {value}, of course.",
)
"""The same, another time."""

CHANGE = (
    "{who} {ended=no longer} {does} {old}; as of {since} {they} {does} {new}.",
    "{who} {ended=stopped} {doing} {old} and, from {since} on, {does} {new}.",
    "there is a change: {who} {does} {new} as of {since}, {ended=not} {old} any more.",
    "please update {whose} {noun}: it was {old}, but from {since} it {ended=changed} to {new}.",
    "{who} {ended=used to} {do} {old}. That changed on {since}, and now {they} {does} {new}.",
    "the {noun} note about {whom} is {ended=out of date}: not {old}, but {new}, as of {since}.",
    "news about {whose} {noun}: {ended=no longer} {old} but {new}, starting on {since}.",
    "until {since} {who} {did} {old}, but now {they} {does} {new} {ended=instead}.",
)
"""The old value ends and the new one begins, both in one message."""

CHANGE_SILENT = (
    "{who} {does} {new} as of {since}.",
    "since {since}, {whose} {noun} has been {new}.",
    "from {since} on, {who} {does} {new}.",
    "good news: {who} {does} {new} now, as of {since}.",
)
"""Only the new value; that the old one ended is left to the reader."""

CHANGE_AGAIN = (
    "as of {since} {who} {does} {new}, as I mentioned.",
    "just to repeat: {whose} {noun} is {new}, and has been since {since}.",
    "{who} {does} {new} now, remember?",
    "I told someone today that {who} {does} {new}, and that it began on {since}.",
)

FACT = ("{who} {does} {value}, {detail}.", "{whose} {noun}: {value}, {detail}.")
FACT_SHORT = ("{who} {does} {value}.",)
FACT_NOW = ("As of {since}, {who} {does} {new}.", "{who} {does} {new}, from {since} on.")
COMPOUND = (
    "{who} {does} {new} as of {since}, {ended=no longer} {old}.",
    "{who} {ended=used to} {do} {old}; from {since} on {they} {does} {new}.",
    "As of {since}, {who} {does} {new} {ended=instead} of {old}.",
)
TOMBSTONE = (
    "{who} {ended=no longer} {does} {old}.",
    "{ended=Outdated}: {who} {does} {old}.",
    "{ended=Out of date}: {whose} {noun} was {old}.",
)
EDGE = ("({who}, {noun}, {value})",)
EDGE_NOW = ("({who}, {noun}, {new})",)
BRIEF = ("{who} {does} {value}", "{whose} {noun} is {value}")
BRIEF_NOW = ("{who} now {does} {new}", "{whose} {noun} changed")

ENDED = (
    "no longer", "stopped", "not", "changed", "used to", "out of date",
    "instead", "Outdated", "Out of date",
)  # fmt: skip
"""Every wording that says an older value has ended."""

SUPERSEDED = "Does {who} still {do} {old}, and if not, what is {whose} {noun} now?"
ENDED_WHICH = "Which {noun} is no longer right for {who}?"
