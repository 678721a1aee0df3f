"""Short procedures: what for, and steps that keep their order."""

SKILLS = (
    ("restart {whose} boiler",
     ("hold the red button for ten seconds", "turn the dial to zero", "wait two minutes",
      "open the lower valve", "check that the lamp is green")),
    ("get into {whose} shed",
     ("lift the flowerpot", "take the brass key", "push the door upwards", "turn the key twice",
      "mind the low beam")),
    ("reset {whose} router",
     ("unplug the cable", "count to thirty", "press the pin hole", "plug the cable back in",
      "wait for two white lights")),
    ("feed {whose} sourdough starter",
     ("throw half of it away", "add fifty grams of flour", "stir in lukewarm water",
      "cover it with a cloth", "leave it by the window")),
    ("set {whose} alarm",
     ("close every window", "type the code", "press the star key", "leave by the back door",
      "listen for one long beep")),
    ("bleed {whose} radiators",
     ("switch the pump off", "open the valve a quarter turn", "wait until water comes",
      "close it firmly", "top up the pressure")),
    ("start {whose} old van",
     ("pull the choke", "pump the pedal twice", "turn the key halfway", "wait for the click",
      "turn it all the way")),
    ("export {whose} photos",
     ("sort them by date", "select the starred ones", "choose the large format",
      "save them to the blue drive", "send the link")),
)  # fmt: skip

TELL = (
    "to {goal}: first {step1}, then {step2}, and finally {step3}.",
    "this is how to {goal}: {step1}, {step2}, {step3}.",
    "if you ever have to explain how to {goal}, it goes like this. First {step1}, next {step2}, "
    "last {step3}.",
    "I wrote down how to {goal}. You {step1}, you {step2}, and then you {step3}.",
)
TELL_AGAIN = (
    "once more, to {goal}: {step1}, then {step2}, then {step3}.",
    "I had to {goal} again, and the trick is to {step1} before you {step2}.",
)
SKILL = (
    "To {goal}: 1) {step1}; 2) {step2}; 3) {step3}.",
    "How to {goal}: {step1}, {step2}, {step3}.",
)
FACT = ("To {goal}, {step1} and {step2}.", "To {goal}, finally {step3}.")
BRIEF = ("we noted how to {goal}", "to {goal}, one has to {step1}")
ASK = (
    ("What is the first thing to do to {goal}?", "step1"),
    ("What is the second step to {goal}?", "step2"),
    ("What is the last step to {goal}?", "step3"),
)
