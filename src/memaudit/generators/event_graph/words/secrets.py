"""Things told and later taken back, and things that are open."""

SECRETS = (
    ("phone number", "07{a} {b}"),
    ("door code", "{a}{c}"),
    ("locker number", "{b}"),
    ("spare e-mail address", "mail{b}@example.org"),
    ("licence plate", "KL {b} {c}"),
    ("club card number", "{a}-{b}"),
)
"""What it is, and how its value is made from digits."""

TELL = (
    "{whose} {what} is {value}.",
    "please write down {whose} {what}: {value}.",
    "the {what} to use for {whom} is {value}.",
    "you may need {whose} {what}, which is {value}.",
)
FORGET = (
    "please {gone=forget} {whose} {what}; there is {none=no new one}.",
    "{gone=delete} {whose} {what} from your notes, please. There is {none=no new one}.",
    "{whose} {what} is to be {gone=removed}, and you will get {none=no other}.",
    "I would rather you {gone=forget} {whose} {what} altogether, with {none=no replacement}.",
    "can you {gone=delete} {whose} {what}? I should not have shared it, and there is "
    "{none=no replacement}.",
)
TOMBSTONE = (
    "{whose} {what} was {gone=deleted} on request; {none=no replacement}.",
    "{gone=Forget} {whose} {what}; there is {none=no new one}.",
    "{whose} {what}: {gone=removed}, {none=no other} known.",
)
FORGET_FACT = ("Something about {who} was {gone=deleted}.", "{whose} {what} was {gone=deleted}.")
FACT = ("{whose} {what} is {value}.",)
EDGE = ("({who}, {what}, {value})",)
BRIEF = ("{whose} {what} was given",)
FORGET_BRIEF = ("{whose} {what} was discussed", "{whose} {what} is {gone=deleted}")
NONE = ("no new one", "no other", "no replacement")
GONE = ("deleted", "forget", "delete", "removed", "Forget")
ASK = "What is {whose} {what}?"

OPEN = (
    ("where to spend the summer", "Where will {who} spend the summer?"),
    ("which school to apply to", "Which school will {who} apply to?"),
    ("which colour to paint the hall", "Which colour will {who} paint the hall?"),
    ("whom to invite to the party", "Whom will {who} invite to the party?"),
    ("when to retire", "When will {who} retire?"),
    ("which laptop to buy", "Which laptop will {who} buy?"),
    ("what to name the boat", "What will {who} name the boat?"),
    ("which offer to accept", "Which offer will {who} accept?"),
    ("where to hold the wedding", "Where will {who} hold the wedding?"),
    ("which breed of dog to get", "Which breed of dog will {who} get?"),
    ("how long to stay abroad", "How long will {who} stay abroad?"),
    ("what to do with the old house", "What will {who} do with the old house?"),
)
OPEN_TELL = (
    "{who} [have|has] {open=not decided} {what}, and won't before {by}.",
    "{who} [am|is] still {open=undecided} about {what}, so ask again after {by}.",
    "the question of {what} is still {open=open} for {whom}, at least until {by}.",
    "{who} [keep|keeps] thinking about {what}, but there is {open=no decision} before {by}.",
    "don't assume anything about {what}: {who} {open=can't decide}, and {by} is the deadline.",
    "{who} won't say {what}; officially it is {open=undecided} until {by}.",
)
OPEN_FACT = (
    "{who} has {open=not decided} {what}; deadline {by}.",
    "{open=Open} until {by}: {what}, for {who}.",
    "{who} is {open=undecided} about {what} until {by}.",
)
OPEN_SHORT = ("{who} is {open=undecided} about {what}.", "{who} is thinking about {what}.")
OPEN_BRIEF = ("{who} is thinking about {what}", "something about {who} is {open=undecided}")
OPEN_MARKS = (
    "not decided", "undecided", "open", "no decision", "can't decide", "Open",
)  # fmt: skip
