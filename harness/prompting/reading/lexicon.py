"""The words of `clauses`: what is spoken of, what can be said of it, and what turns it round or takes its edge off."""

from __future__ import annotations

import re

from harness.prompting.reading.statement_forms import ASSERTED, DENIED
from harness.prompting.reading.verdicts import NEGATIVE, POSITIVE

PREDICATES = (
    "deduc-e-ed-es-ible-ing-tion deduct-ed-ion infer-red-s-able-rable-ence conclu-de-ded-des-sion deriv-e-ed-es-able "
    "determin-e-ed-es-able establish-ed-es prov-e-ed-en-es confirm-ed-s follow-s-ed hold-s stand-s fail-s-ed "
    "entail-ed-s "
    "impl-y-ies-ied guarantee-d-s justif-y-ied support-ed-s verif-y-ied necessarily contradict-s-ed compelled "
    "say said tell "
    "claim-ed assert-ed ascertain-ed draw-n reached reject-s-ed accept-s-ed mean-s show-s indicate-s"
)
ANCHORS = frozenset(
    {stem + end for stem, *ends in (word.split("-") for word in PREDICATES.split()) for end in ("", *ends)}
    | set(re.findall("[a-z]+", f"{POSITIVE} {NEGATIVE}"))
    | {ASSERTED, DENIED, "consequence", "non-sequitur"}
)

# What is spoken of.
SUBJECTS = frozenset(
    {
        *"hypothesis statement claim conclusion assertion proposition inference deduction".split(),
        *"implication thesis argument".split(),
        ASSERTED,
    }
)
PRONOUNS = frozenset("it this that which".split())
OTHER = frozenset("reverse opposite converse other another inverse reversed different".split())
SOMEBODY = frozenset("one people some someone others critics students many you user".split())
# What is said of it.
COPULAS = frozenset(
    "is are was be isn't aren't wasn't it's that's seems appears remains being become becomes been".split()
)
REASONED = re.compile(
    r"(?:deduc(?:e|ed|ible)|deduct(?:ed)?|infer(?:red)?|conclude[ds]?|derived?|determined?|establish(?:ed)?"
    r"|prove[dn]?"
    r"|confirm(?:ed)?|assert(?:ed)?|claim(?:ed)?|say|said|tell|drawn?|reached|guaranteed?|justif(?:y|ied)"
    r"|ascertain(?:ed)?"
    r"|verif(?:y|ied)|support(?:ed)?)\Z"
)
GOOD = frozenset(word for word in POSITIVE.split("|") if " " not in word and not REASONED.match(word)) | {
    "compelled",
    "consequence",
}
BAD = frozenset((*(word for word in NEGATIVE.split("|") if word.isalpha()), "inconclusive", "non-sequitur"))
VERBS = {
    "follow": 1,
    "follows": 1,
    "hold": 1,
    "holds": 1,
    "stand": 1,
    "stands": 1,
    "fail": -1,
    "fails": -1,
    "contradicts": -1,
}
MEANS = frozenset(
    "means mean implies imply shows show proves prove confirms establishes follows entails indicates conclude "
    "deduce infer find "
    "see deduct".split()
)
SUPPORTS = frozenset(
    (
        "supports support entails entail implies imply establishes establish guarantees guarantee justifies "
        "justify warrants warrant allow allows"
    ).split()
)
ABLE = frozenset("can could able possible allows allow enables sufficient enough lets let".split())
UNABLE = frozenset("cannot can't couldn't impossible unable insufficient".split())
EVIDENCE = frozenset("information evidence data way basis reason grounds".split())
# What turns it round, or takes its edge off.
NEGATIONS = UNABLE | frozenset(
    "not never don't doesn't didn't isn't aren't wasn't won't wouldn't no none nothing neither nor lack lacks "
    "lacking nowhere "
    "nobody hardly needn't without".split()
)
HEDGES = frozenset(
    "may might possibly perhaps maybe potentially likely probably partly partially sometimes seemingly "
    "apparently unclear "
    "uncertain unlikely unknown tempting hypothesized claimed".split()
)
LIMITS = frozenset("some one two only few several half certain sometimes partly partially part".split())
PART = frozenset("alone solely merely just itself marginals marginal only".split())
STRENGTH = frozenset(
    "necessarily therefore thus definitely clearly always indeed strictly logically in fact fully".split()
)
CONDITIONS = frozenset("if unless whether suppose supposing assuming otherwise assume had until".split())
# How clauses hang together.
REASONS = frozenset("because since as although though while whereas even despite".split())
BREAKS = REASONS - {"even", "despite"} | frozenset(", ; : ( ) so but and however yet given or nor - ?".split())
CONNECTING = frozenset(
    "therefore thus hence so then and but consequently accordingly overall finally in conclusion summary ultimately "
    "clearly indeed yes no result as final answer we".split()
)
# Scenes: what a heading names, and words of one world among others.
NAMES = frozenset("hypothesis statement claim question premise proposition".split())
WORLDS = frozenset("graph dag case scenario example model".split())
ALL_OF_THEM = frozenset("every each all both any conclusion summary end short".split())
KNOWN = frozenset("case true established known certain certainly proven".split())
OTHER_WORLDS = frozenset("case cases graph dag scenario first second third that then another other".split())
PLACES = frozenset("in within here among from given by based".split())
ARTICLES = frozenset(("that", "the", "whether", "indeed", "therefore", "following", "from", ","))
