"""Sentences about who is what to whom."""

TELL = (
    "{whose} {label} is called {other}.",
    "{other} is {whose} {label}.",
    "{whose} {label}'s name is {other}, in case it comes up.",
    "if you hear the name {other}: that is {whose} {label}.",
    "I was with {other} today, who is {whose} {label}.",
    "you will hear more about {other}, {whose} {label}.",
)
TELL_AGAIN = (
    "{other}, {whose} {label}, says hello.",
    "as you know, {other} is {whose} {label}.",
    "I ran into {other} again, {whose} {label}.",
)
FACT = ("{other} is {whose} {label}.", "{whose} {label} is called {other}.")
EDGE = ("({who}, {label}, {other})",)
BRIEF = ("{other} is {whose} {label}", "{whose} {label} came up")
ASK = "Who is {whose} {label}?"
