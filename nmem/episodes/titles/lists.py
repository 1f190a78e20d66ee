"""Data: closed word lists for titles. Nothing in them is learned; English, as most prompts are."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


STOP = listed(
    """
    a an the and or but of to in on for with at by from as is are was were be been being it its this that these
    those not no do does did so if then than into out up about all any each can could should would will may might
    must has have had i we you he she they my our your their me us them what which who how why when where there here
    also just only more most some such via per
    """
)
"""Words without content."""

EVERYDAY = listed(
    """
    now use code want need like make still same first think see look get check please let yes good right true sure
    don't it's can't i'm that's doesn't isn't actually really maybe also just again currently one two thing things
    something anything everything way lot bit kind going go got seem seems said say know understand try able ok okay
    great nice cool thanks thank well both much many very even already yet else instead different another other
    whole since before after because however every few
    """
)
"""Words of every conversation about code: they tell no goal."""

DROPPED = listed(
    """
    a an the my our your their his her its some any all this that these those just really actually again currently
    maybe only also please still even already basically simply quite very so too such own well there here now then
    kind sort bit little lot lots whole entire certain proper properly is are was were be been being am do does did
    has have had having i we you u it they he she me us him them will would can could should may might must
    """
)
"""Words that a headline leaves out."""

ARTICLES = listed(
    """
    a an the my our your this that these those its their all any some each every
    """
)
JOINING = listed(
    """
    of in on for to from with into by at via between without
    """
)
BREAKING = listed(
    """
    onto within following below above respective parts using over under after before during through across against
    per towards toward around about inside instead and or then plus but because since when whenever if which that
    who whose where while as although though unless until how why what whether once like than etc want wants wanted
    need needed should getting got see seen show shown let take took ran tell told look looked think know went put
    going keep find finding try trying start started happened called used using made done added fixed removed
    implemented updated created changed moved
    """
)
"""Words at which a noun phrase ends."""

NOISE = listed(
    """
    hello hi hey lol md py js ts tsx jsx json html yml yaml css txt com http https www none null undefined true
    false etc eg ie btw pls plz thx
    """
)
"""No name by itself."""

VERBS = listed(
    """
    add adapt adjust align allow analyse analyze append apply assign audit avoid build bump cache center change
    check choose clarify clean clear clone close combine commit compare compile complete compress compute configure
    connect consolidate convert copy correct count create cut debug decouple define delete deploy derive describe
    design detect determine diagnose disable display document download draw drop edit eliminate embed enable enforce
    enhance ensure evaluate exclude execute expand explain explore export expose extend extract fetch fill filter
    find finish fix format generate give group handle hide highlight implement import improve include increase
    initialize insert inspect install integrate introduce investigate isolate keep limit link list load localize log
    lower make map match measure merge migrate minimize mock modify modularize monitor move normalize open optimise
    optimize organize overhaul override parse pass persist pick pin plan plot polish populate port prepare prevent
    print process propose provide publish pull push query raise read rebase record recreate redesign reduce refactor
    refine refresh regenerate release reload remove rename render reorder reorganize repair replace reply report
    reproduce research reset resize resolve restore restrict restructure retrieve return reuse revert review revise
    rewrite rework rotate round run save scale scan search select send separate serve set share shorten show
    simplify simulate skip solve sort specify split squash standardize start stop store streamline strengthen strip
    style suggest summarise summarize support switch sync test tidy toggle track train translate trim tune turn
    tweak unify uninstall update upgrade upload use validate verify visualize wire wrap write
    """
)
"""What a goal begins with."""

WEAK = listed(
    """
    read check run start find search test update make open use show give write set include keep change implement
    """
)
"""Verbs that are said of every step: they are the goal less often."""

ROUTINE = listed(
    """
    run commit push start stop keep open
    """
)
"""Verbs of how work goes on: they lead a title only where nothing else was asked for."""

PAST = {"built": "build", "made": "make", "wrote": "write", "written": "write", "ran": "run", "kept": "keep",
        "found": "find", "rewrote": "rewrite", "set": "set", "split": "split"}  # fmt: skip

IDIOMS = {
    "get rid of": "remove", "have a look at": "review", "take a look at": "review", "look at": "review",
    "look into": "investigate", "figure out": "find", "look for": "find", "deal with": "handle",
    "take care of": "handle", "check out": "review", "go over": "review", "go through": "review",
    "dive into": "investigate", "come up with": "propose", "tell me": "explain", "explain to me": "explain",
    "show me": "show", "give me": "give", "write me": "write",
}  # fmt: skip
"""Phrases of more than one word -> the verb that they mean."""
