"""A page on a town, in which a few questions are answered in other words than they are asked in."""

SENTENCES = (
    "The library was built of red brick in 1904.",
    "Its reading room has forty desks.",
    "A bus stops in front of the town hall every hour.",
    "Physicians at the clinic see people without an appointment until noon.",
    "The clinic has its own pharmacy.",
    "Bakers sell rye bread at the market on Fridays.",
    "The market square was paved with granite two years ago.",
    "Dogs have to be kept on a leash in the park.",
    "The park has a pond with carp.",
    "Children under six ride the ferry free of charge.",
    "The ferry carries bicycles on the lower deck.",
    "A lighthouse stands at the end of the pier.",
    "It was automated when its last keeper retired.",
    "The museum shows ship models and old charts.",
    "Photography with a flash harms the charts.",
    "The brewery pumps its water from a well below the hill.",
    "Its cellars are cut into the rock.",
    "The school teaches in two languages.",
    "Lessons begin after the first train has come in.",
    "The station clock is four minutes fast on purpose.",
    "Snow closes the pass for most of the winter.",
    "A plough keeps the road to the quarry open.",
    "The quarry gave the stone for the bridge.",
    "The bridge has three arches of unequal width.",
    "Swimming under the arches is dangerous after rain.",
    "The mayor is chosen by the members of the council.",
    "Council meetings may be watched from the gallery.",
    "Rubbish is collected on Mondays before dawn.",
    "Glass goes into the green containers.",
    "The theatre seats three hundred.",
    "Its curtain was painted by a local artist.",
    "Bats live under the roof of the theatre.",
    "The cemetery lies outside the walls.",
    "Its oldest grave is that of a sailor.",
    "Fishing needs a permit from the harbour office.",
    "The harbour office closes at four.",
    "An organ with two manuals fills the west end of the church.",
    "Concerts are given there in summer.",
    "The vineyard on the slope is worked by hand.",
    "Its grapes are picked in October.",
)
PAGE = " ".join(SENTENCES)

PARAPHRASES = {
    "unscheduled doctor visit": SENTENCES[3],
    "does a toddler pay?": SENTENCES[9],
    "garbage pickup schedule": SENTENCES[27],
}
"""Question -> its answer, which shares no word with it, as no other sentence does."""

QUESTION = "What does the ferry carry, and who rides the ferry without a ticket?"
