"""Names of invented people, and what to call them in the middle of a sentence."""

_SHE = (
    "Amaya Anneli Astrid Bettina Brisa Calla Carine Dagny Delphine Edda Eilis Elowen Fenna Fleur "
    "Gitta Greer Hanneke Ilka Ilse Ines Jorun Juno Kaisa Kerensa Leda Linnea Maeve Mara Marit "
    "Nadira Nela Odile Orla Petra Pilar Quilla Ragna Romy Saskia Signe Solveig Tamsin Thea Ulla "
    "Vera Wanda Xenia Yara Yvette Zelda"
)
_HE = (
    "Aldo Anselm Arlo Bastian Bram Caspar Cormac Dario Davin Edvin Emeric Fabian Fintan Gaspard "
    "Goran Hamish Henrik Idris Ivo Jasper Jorik Kester Kilian Lasse Leif Magnus Matteo Milan "
    "Nestor Niall Oskar Otto Pascal Piet Quentin Ramon Rurik Sander Soren Tadeo Tomas Ulric "
    "Valentin Viktor Wendel Willem Xavi Yorick Yusuf Zeno"
)
_SURNAMES = (
    "Abernathy Alcott Arkwright Aubrey Bellweather Bergen Birk Blackwood Bonnard Brandt Calloway "
    "Castellan Corrigan Dahl Delacroix Drummond Ekman Ellery Fairfax Falk Farrow Fenwick Galloway "
    "Garrick Grau Hale Hartmann Havel Holm Ibarra Jansen Karlsen Keller Kestrel Lacey Lindqvist "
    "Lorne Maddox Marlow Mercer Moreau Nilsen Norwood Okafor Orsini Pascoe Pembroke Quill Ravel "
    "Renner Rourke Sandoval Sinclair Storm Tennant Thorne Vance Verhoeven Vogel Wexler Winslow "
    "Yardley Zeller Zorn"
)

SHE, HE = tuple(_SHE.split()), tuple(_HE.split())
SURNAMES = tuple(_SURNAMES.split())

USER_RELATIONS = (
    "sister", "brother", "cousin", "landlord", "neighbour", "manager", "dentist", "flatmate",
    "aunt", "uncle", "tutor", "accountant", "hairdresser", "running partner", "godmother",
    "best friend", "physiotherapist", "mentor",
)  # fmt: skip
"""What someone can be to the speaker; each is used once, so that it names one person."""

RELATIONS = (
    "sister", "brother", "cousin", "landlord", "neighbour", "manager", "business partner",
    "flatmate", "aunt", "uncle", "tutor", "accountant", "hairdresser", "doubles partner",
    "best friend", "vet", "singing teacher", "lawyer",
)  # fmt: skip
"""What someone can be to anybody else."""
