"""Tables of near-synonyms and abbreviations in programming, for matching queries; of no single project.

Plain lines, so that reading them costs a cold start little: short forms as `short long`, groups of one meaning.
"""

from __future__ import annotations

_SHORT = """
abs absolute|addr address|alloc allocate|app application|arch architecture|arg argument|args arguments
async asynchronous|attr attribute|auth authentication|auto automatic|bg background|bin binary|bool boolean|btn button
buf buffer|calc calculate|cat category|cb callback|cfg configuration|char character|chk check|cls class|cmd command
cmp compare|cmt comment|col column|coll collection|comm communication|conc concurrency|cond condition
conf configuration|config configuration|conn connection|const constant|conv convert|coord coordinate|cpy copy
ctl control|ctor constructor|ctrl control|ctx context|cur current|cwd working directory|db database|dbg debug
decl declaration|def definition|del delete|dep dependency|deps dependencies|desc description|dest destination
dev development|dict dictionary|diff difference|dim dimension|dir directory|dirs directories|dist distribution
doc documentation|docs documentation|dup duplicate|dyn dynamic|elem element|env environment|err error|errs errors
eval evaluate|evt event|exc exception|exec execute|exp expression|expr expression|ext extension|fcn function
fd descriptor|fld field|fmt format|fn function|freq frequency|fs filesystem|func function|gen generate|hdr header
hist history|ident identifier|idx index|impl implementation|incr increment|info information|init initialize
inst instance|int integer|iter iterate|lang language|len length|lib library|lvl level|max maximum|md markdown
mem memory|mgr manager|mgmt management|mid middle|migr migration|min minimum|misc miscellaneous|mod module
mods modules|msg message|msgs messages|mv move|nav navigate|num number|obj object|opt option|opts options
org organization|orig original|os system|param parameter|params parameters|perf performance|perm permission
perms permissions|pkg package|plt plot|pos position|pred predicate|pref preference|prefs preferences|prep prepare
prev previous|prio priority|priv private|proc process|prod production|prog program|proj project|prop property
props properties|proto protocol|ptr pointer|pwd password|py python|qty quantity|ref reference|refs references
regex pattern|rel relative|repo repository|repos repositories|req request|reqs requirements|res result|resp response
ret return|rev review|rm remove|sched schedule|sec security|sel select|sep separate|seq sequence|sess session
sig signature|spec specification|specs specifications|src source|stat status|std standard|stmt statement|str string
struct structure|sub subordinate|svc service|sync synchronize|sys system|tbl table|temp temporary|tmp temporary
tok token|tx transaction|txn transaction|txt text|typ type|util utility|utils utilities|val value|vals values
var variable|vars variables|vec vector|ver version|vs versus|xform transform
"""

_ALIKE = """
abort stop halt cancel quit terminate exit end
accept approve confirm agree allow permit
add append insert attach include put introduce
agent subagent worker assistant model llm bot
ask request query prompt question
assertion assert expect check
automatic automated unattended
avoid prevent forbid prohibit ban never stop
big large huge giant long bloated oversized
blank empty missing null none absent
block prevent deny reject refuse forbid stop
branch checkout
broken corrupt malformed invalid damaged bad wrong
bug defect error fault problem issue failure
build construct create make compile
call invoke run execute launch start
cache memo store
change modify edit alter update rewrite
child subordinate nested sub
choose select pick decide prefer
clean tidy cleanup purge strip
cli command terminal shell console
combine merge join consolidate unify fold
commit save checkin
compare diff contrast
compress shorten condense compact shrink trim
conflict clash collision contradiction
context window memory
convert transform translate turn migrate
copy duplicate clone replicate
cost price expense expensive spend
count number amount quantity total
crash fail die abort
create make generate produce write build new
data information content
deadlock hang stuck freeze block
decide decision choose determine
default fallback standard
delegate dispatch assign handoff subagent
delete remove drop erase discard purge
dependency library package module requirement
design plan architecture structure
detect find recognize discover identify notice spot catch
directory folder
document write describe documentation doc
draft outline sketch
early first soon before
edit change modify
efficient fast cheap quick
encode escape serialize
ensure guarantee verify enforce
environment sandbox container
error exception failure fault
evaluate assess measure judge rate score
example sample fixture instance
expand extend grow enlarge
explain describe document tell
explicit clear direct
extract pull get parse obtain
fail break error crash
fake mock stub double patch
fast quick rapid speed performance
feature functionality capability
feedback comment review critique
file document
filter exclude select ignore skip
fix repair mend correct resolve patch solve
flag option switch argument
folder directory path
format layout style shape
function method routine procedure helper
gather collect accumulate
group cluster batch bundle
guess assume infer assumption
guide instruct direct steer instruction
handle process treat manage deal
heading title header
hide conceal suppress mask
hook trigger callback
huge large big
idea concept notion
ignore skip disregard omit exclude
import load include
improve optimize enhance refine better
index catalog list
inherit extend subclass
input argument parameter
install setup configure deploy
instruction directive rule guideline
interrupt stop cancel
keep retain preserve maintain save
kind type category class
large big huge long
late last after
launch start spawn run
learn lesson learning
limit cap threshold bound maximum
link reference connect url
lint check format
list enumerate inventory
load read import open
locate find search
log record trace
lookup search find retrieve
loop repeat iterate cycle
loss lose lost missing
mandatory required must forced compulsory
manual hand
match equal pattern
merge combine join integrate
message text prompt output
mistake error wrong
mock fake stub patch double
module file package
move relocate transfer shift
multiple several many
name call label title naming
new fresh create add
notify inform alert warn
obsolete stale outdated old deprecated
old stale outdated legacy previous
open read load
operation action step task
order sequence sort priority
output print stdout emit result
overwrite replace clobber
parallel concurrent simultaneous
parse read extract interpret
path location
pattern template regex
permission right access allow
phase stage step
pick choose select
pipeline workflow process
place put locate position
plan design outline
plugin extension addon
postpone defer delay later
prefer favor choose
print output display show
private internal hidden
progress status state
project repository repo codebase
prompt instruction request
propagate spread pass
prose text wording
question ask query
quote escape cite
random nondeterministic flaky unstable
read load open parse
recall retrieve remember memory
recover restore resume rescue
reduce shrink cut lower minimize less
redundant duplicate repeated unnecessary
refactor restructure rewrite rearrange reorganize
reference link cite mention
regression break breakage
reject refuse deny
relative related
release publish ship version
remember recall memory
remove delete drop strip
rename move
repeat again redo duplicate
replace substitute swap
report summary tell
require need must
resolve solve fix determine
restart reload resume
result outcome output
retry again repeat
return give
review audit inspect check vet critique
revert undo rollback restore
root top base
rule policy convention constraint guideline
safe secure protected
save store persist write keep
scan search look
scope range boundary extent
script program tool
secret password token credential key
section part chapter
send pass transmit submit
separate split divide isolate
session conversation chat
share common reuse
shell bash terminal command
short brief concise terse small
show display print present
similar alike same duplicate
simple plain easy trivial
size length count
skip omit ignore bypass
slow latency performance
small tiny little short
snapshot backup copy
sort order arrange rank
source origin
split divide break separate partition
start begin launch initialize
state status
step stage phase task
store save persist keep
strict rigid exact
structure layout organization
style format convention
summarize condense digest summary
symlink link
task job work item ticket
temporary scratch transient tmp
terminal console tty
test check verify spec
text string prose
threshold limit cutoff
timeout deadline expire
tool utility program
trace log track
track follow monitor trace
trigger cause invoke start fire
trivial simple noise minor
truncate cut shorten clip
uncertain unsure ambiguous unclear
undo revert rollback
unique distinct
unused dead orphan
update change refresh upgrade modify
upgrade update
user person human
validate verify check
value result
variable parameter
verify check confirm validate prove
version release revision
view show display
wait block pause
warn alert caution
whitespace blank indent space
wrap enclose surround
write create author produce
wrong incorrect bad invalid
"""


def short() -> dict[str, str]:
    """Short forms -> what they stand for."""
    return dict(pair.split(" ", 1) for line in _SHORT.split("\n") for pair in line.split("|") if pair)


def alike() -> dict[str, list[str]]:
    """Words -> words that may be said for them."""
    out: dict[str, list[str]] = {}
    for line in _ALIKE.split("\n"):
        group = line.split()
        for word in group:
            out.setdefault(word, []).extend(other for other in group if other != word)
    return out
