"""Preferences that depend on where one is."""

SCOPES = ("at home", "at work", "on trips", "at weekends")
MORE_SCOPES = (*SCOPES, "with guests around", "in winter")

PRACTICAL = ("news", "reminders", "payments")
"""Topics that guests and seasons do not change."""

TOPICS = {
    "music": ("quiet jazz", "no music at all", "film scores", "old soul records", "piano trios",
              "field recordings", "loud techno"),
    "breakfast": ("porridge with plums", "black coffee", "rye bread and cheese",
                  "scrambled eggs", "yoghurt and nuts", "a croissant", "leftover soup"),
    "drinks": ("green tea", "a flat white", "sparkling water", "ginger beer", "rooibos",
               "tomato juice", "hot chocolate"),
    "shoes": ("felt slippers", "white trainers", "hiking boots", "plain loafers", "sandals",
              "bare feet", "rubber clogs"),
    "news": ("a printed paper", "one podcast a day", "the radio at seven", "no news at all",
             "a weekly magazine", "headlines by mail"),
    "reminders": ("a text message", "a paper note", "a phone call", "an e-mail the day before",
                  "a calendar alert", "no reminder"),
    "lighting": ("warm lamps", "bright daylight", "candles", "one desk lamp", "dimmed spots",
                 "open curtains"),
    "lunch": ("a cold salad", "ramen", "a proper three-course meal", "a cheese sandwich",
              "lentil stew", "sushi", "nothing but fruit"),
    "payments": ("cash", "a debit card", "the phone", "bank transfer", "a prepaid card"),
}  # fmt: skip

TELL = (
    "when it comes to {what}, {who} [prefer|prefers] {value} {scope}.",
    "{scope}, {who} [like|likes] {value} best when it comes to {what}.",
    "for {what} {scope}, {who} [prefer|prefers] {value}.",
    "about {what}: {scope} it should be {value} for {whom}.",
    "if you ever plan {what} for {whom}, go for {value} {scope}.",
    "{scope}, {who} [want|wants] {value} for {what}.",
)
SHIFT = (
    "{scope} it is different: there {who} [prefer|prefers] {value} for {what}.",
    "but {scope}, {who} [like|likes] {value} when it comes to {what}.",
    "when it comes to {what}, it depends with {whom}: {scope} it is {value}.",
    "one exception about {what}: {scope}, {who} [want|wants] {value} instead.",
)
TELL_AGAIN = (
    "again about {what}: {who} really [do|does] prefer {value} {scope}.",
    "remember, {value} for {whom} {scope}.",
    "someone got {whose} {what} wrong again: {scope} it should be {value}.",
)
FACT = (
    "{who} prefers {value} for {what} {scope}.",
    "{whose} {what} {scope}: {value}.",
)
SHORT = ("{who} prefers {value} for {what}.", "{who} likes {value}.")
EDGE = ("({who}, {what}, {value})",)
BRIEF = ("{who} likes {value}", "{who} has views on {what} {scope}")
ASK = "What does {who} prefer for {what} {scope}?"
