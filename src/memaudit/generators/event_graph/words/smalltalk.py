"""What people say around the point: greetings, openers, closers, small talk."""

OPENERS = (
    "by the way,", "oh, and", "before I forget:", "quick note:", "one more thing:", "so,",
    "just so you know,", "another thing:", "since we are talking,", "while I think of it:",
    "small update:", "also,", "I nearly forgot:", "for the record,", "okay,", "right,",
)  # fmt: skip
"""They run into the sentence, which then begins in lower case."""

FIRST_OPENERS = (
    "quick note:", "small update:", "just so you know,", "for the record,", "before I forget:",
)  # fmt: skip
"""Those that can begin a session."""

GREETINGS = {
    0: ("Good morning!", "Morning!", "Hi, before the day starts.", "Hello!"),
    1: ("Hi!", "Hello again.", "Hey there.", "Good afternoon!"),
    2: ("Good evening!", "Hi, what a day.", "Hello!", "Evening!"),
}
"""By part of the day."""

ALONE = (
    "again ", "as I ", "as you ", "but ", "can ", "could ", "did ", "don't ", "for your ",
    "from now ", "good news", "here is ", "I may ", "if you ever ", "just ", "news ",
    "not everyone ",
    "nothing ", "once more", "one exception", "please ", "put ", "remember", "someone ",
    "there is a change",
    "until ", "you ", "at the moment ", "these days", "for now", "a standing", "I don't think",
)  # fmt: skip
"""Sentences that begin so have an opener of their own."""

CLOSERS = (
    "Please keep that in mind.", "That's all for now.", "No need to do anything about it.",
    "Could you note that down?", "It came up over lunch.", "I thought you should have it.",
    "Let me know if that causes trouble.", "Anyway.", "Sorry for the short notice.",
    "Funny how these things go.", "I'll tell you more another time.", "Thanks!",
    "You never know when it matters.", "It took me long enough to mention it.",
)  # fmt: skip

WEATHER = (
    (
        ("It has been raining since breakfast", "There is fog everywhere",
         "The wind kept me awake all night", "We had another storm"),
        ("and I am not getting much done", "and everyone on the bus was grumpy",
         "so I stayed in and read", "but I went for a walk anyway", "and the laundry is still wet"),
    ),
    (
        ("The sun is finally out", "It is warm enough to sit outside", "The sky is clear at last",
         "What a mild day it is"),
        ("so I am in a good mood", "which suits me fine", "and the coffee tastes better for it",
         "and half the town is in the park", "so I took the long way home"),
    ),
)  # fmt: skip
"""Kinds of weather, with what goes with them."""

SUBJECTS = (
    "The bakery on the corner", "The new film with the ships", "That new bridge",
    "The soup I tried to cook", "The queue at the post office", "The concert in the park",
    "Yesterday's crossword", "The documentary about eels", "The lift in our building",
    "The flea market",
)  # fmt: skip
VERDICTS = (
    "was better than expected.", "was a disappointment.", "made me laugh out loud.",
    "took far too long.", "is all anyone talks about.", "was exactly what I needed.",
    "nearly drove me mad.", "was not worth it.",
)  # fmt: skip
TAILS = (
    "How are you doing?", "Anyway, nothing important.", "Just chatting.", "Tell me a joke?",
    "I needed to tell someone.", "Do you ever get bored?", "Right, back to work.",
    "That was my day.", "I should go to bed earlier.", "Well, such is life.",
)  # fmt: skip
ASSISTANT = (
    "You're welcome! Is there anything else today?", "Glad to hear it. I am here if you need me.",
    "That sounds like quite a day.", "Got it, thanks for telling me.",
    "Happy to help, as always.", "I don't get bored, but thank you for asking.",
    "Of course. Take your time.", "I'll be here when you are back.",
    "Noted. Shall we go on?", "Let me know how it turns out.",
)  # fmt: skip

SUMMARY_HEADS = ("Session notes:", "In this chat:", "Summary:", "Covered today:", "In short:")
SUMMARY_EMPTY = ("nothing of note came up", "mostly small talk", "a short friendly chat")
