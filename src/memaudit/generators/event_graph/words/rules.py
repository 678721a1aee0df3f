"""Standing rules: when, what to do, and where not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleFamily:
    """A kind of occasion, with what can be asked for it; {n} and {name} make it specific."""

    when: str
    actions: tuple[str, ...]
    unless: tuple[str, ...]
    reasons: tuple[str, ...]


NUMBERS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fifteen",
)  # fmt: skip

GENERAL = (
    RuleFamily("a flight takes over {n} hours",
               ("book an aisle seat", "order a vegetarian meal", "add extra legroom",
                "book a day of rest afterwards"),
               ("if it leaves at night", "if the seat costs extra", "when I travel with family"),
               ("I sleep badly on planes", "my doctor advised it", "it saved me last time")),
    RuleFamily("a hotel costs more than {n} hundred crowns",
               ("ask me first", "look for a hostel instead", "request a late check-out"),
               ("if the client pays", "during the fair", "when breakfast is included"),
               ("money is tight", "the firm asks for it", "I regretted it once")),
    RuleFamily("a meeting has more than {n} people",
               ("send an agenda ahead", "book the large room", "record it"),
               ("if it is a workshop", "on Fridays", "when it is only a lunch"),
               ("it gets chaotic otherwise", "the director insists", "people forget things")),
    RuleFamily("a parcel weighs more than {n} kilos",
               ("have it sent to the depot", "ask for a second carrier", "pay for insurance"),
               ("if it is a gift", "in December", "when someone is home"),
               ("the stairs are narrow", "one got lost in spring", "it went wrong last time")),
    RuleFamily("a bill is over {n} hundred crowns",
               ("pay in two instalments", "double-check it with me", "file a paper copy"),
               ("if it is the rent", "if it is overdue", "when it comes from the school"),
               ("I was charged twice once", "the budget is thin", "my accountant wants it")),
)  # fmt: skip
PERSONAL = (
    RuleFamily("{name} comes to dinner",
               ("leave out the garlic", "set the small table", "buy alcohol-free beer",
                "put the cat upstairs"),
               ("if it is a birthday", "in high summer", "when others cook"),
               ("it went wrong last time", "we agreed on it", "it keeps the peace")),
    RuleFamily("{name} calls during work",
               ("put the call through", "take a message", "offer a slot after six"),
               ("if I am presenting", "on deadline days", "when it is about money"),
               ("it is usually short", "we had a misunderstanding", "we agreed on it")),
    RuleFamily("we order food with {name}",
               ("ask for no coriander", "split the bill evenly", "order one dish less"),
               ("if it is pizza", "on holidays", "when {name} pays"),
               ("it went wrong last time", "it is only fair", "we agreed on it")),
    RuleFamily("{name} borrows the car",
               ("check the tyres first", "note the mileage", "leave the spare key behind"),
               ("if it is urgent", "at weekends", "when I come along"),
               ("it came back empty once", "the insurance wants it", "we agreed on it")),
)  # fmt: skip

TELL = (
    "here is a rule: whenever {when}, {action}, except {unless}, because {reason}.",
    "if {when}, please always {action}, since {reason}. Don't do it {unless}, though.",
    "from now on, {action} whenever {when}, but not {unless}. The reason is that {reason}.",
    "a standing request: {action} every time {when}, but not {unless}. Why? Because {reason}.",
    "could you make it a habit to {action} when {when}? Not {unless}, though. You see, {reason}.",
)
TELL_AGAIN = (
    "the old rule stands: {action} when {when}.",
    "just a reminder that you should {action} whenever {when}, because {reason}.",
)
RULE = (
    "Whenever {when}, {action}, except {unless}, because {reason}.",
    "If {when}: {action}; not {unless}; {reason}.",
)
FACT = ("When {when}, {action}.", "When {when}, {action}, but not {unless}.")
BRIEF = ("there is a rule to {action}", "a rule was set for when {when}")
ASK = "What should be done when {when}?"
