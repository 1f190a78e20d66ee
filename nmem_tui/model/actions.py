"""The registry of actions: bindings, key bar, help and palette are made from this list.

An action is carried out by the method `do_<id>` of the active screen, else of the app. Whether it applies now is asked
of `may_<id>`, which gives the reason why not, or None; an action without such a method always applies.
The registry alone says what an action does; its method does not repeat that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from textual.binding import Binding

from nmem_tui.model import symbols
from nmem_tui.model.screens import MODES, TABS

EVERYWHERE = "everywhere"
NUMBERED = " ".join(MODES)
Keys = Mapping[str, tuple[str, ...]]
"""A person's own keys, by action; see keymap."""


class Action(NamedTuple):
    """Something that a person can do."""

    id: str
    keys: tuple[str, ...]
    label: str
    """One or two words for the key bar; empty: not on the bar."""
    help: str
    group: str
    context: str = EVERYWHERE
    """The screens it belongs to, separated by blanks."""
    key_label: str = ""
    """How the keys are written; made from the first key where empty."""
    writes: bool = False
    """Whether it changes the database, settings or files of a project: not done by a cockpit that only reads."""

    def works_in(self, context: str) -> bool:
        """Whether a screen has it for its own."""
        return context in self.context.split()

    @property
    def shown_key(self) -> str:
        """The key as a person reads it."""
        return symbols.keys(self.key_label or (key_name(self.keys[0]) if self.keys else "–"))

    def with_keys(self, keys: Keys) -> Action:
        """The action with the person's own keys, where there are some."""
        own = keys.get(self.id)
        return self if own is None else self._replace(keys=own, key_label="")


_NAMES = {
    "question_mark": "?", "dollar_sign": "$", "exclamation_mark": "!",
    "slash": "/", "colon": ":", "escape": "esc", "minus": "-", "plus": "+", "equals_sign": "=", "down": "↓", "up": "↑",
    "asterisk": "*", "comma": ",", "less_than_sign": "<", "greater_than_sign": ">",
    "right_square_bracket": "]", "left_square_bracket": "[", "right_curly_bracket": "}", "left_curly_bracket": "{",
    "ctrl+f": "^f", "ctrl+p": "^p", "ctrl+q": "^q", "ctrl+d": "^d", "ctrl+u": "^u", "ctrl+e": "^e", "ctrl+r": "^r",
}  # fmt: skip
_BUILT_IN: Keys = {}


def key_name(key: str) -> str:
    """A key as a person reads it."""
    return _NAMES.get(key) or (f"^{key[-1]}" if key.startswith("ctrl+") and len(key) == len("ctrl+x") else key)


ACTIONS: list[Action] = [
    Action("help", ("question_mark", "f1"), "help", "every key and what it does; type to filter, enter runs",
           "General"),
    Action("signs", ("I",), "", "what each sign on this screen means", "General"),
    Action("filter", ("slash",), "filter", "list only rows with these words, or !without; enter keeps, esc clears",
           "Filter", "now episodes stance learnings context tasks health sessions"),
    Action("palette", ("colon", "ctrl+p"), "palette", "run any action by its name", "General"),
    Action("yes", ("y",), "", "answer yes: a new task; one line of work; a rule; that word; a secret", "Answer",
           "review", writes=True),
    Action("no", ("n",), "", "answer no: the task before; two lines of work; no rule; the other word; a false alarm",
           "Answer", "review", writes=True),
    Action("later", ("j", "down", "space"), "", "leave this question for later", "Answer", "review"),
    Action("before", ("k", "up"), "before", "back to the question before", "Answer", "review"),
    Action("draw", ("d",), "", "draw more redactions to judge, or calls to label", "Answer", "review", writes=True),
    Action("next_queue", ("tab",), "queue", "the next queue with questions in it", "Queue", "review"),
    Action("last_queue", ("shift+tab",), "", "the queue before", "Queue", "review"),
    Action("queue_boundaries", ("1",), "", "does a new episode begin here?", "Queue", "review"),
    Action("queue_links", ("2",), "", "are two threads one line of work?", "Queue", "review"),
    Action("queue_learnings", ("3",), "", "is a learning worth a rule?", "Queue", "review"),
    Action("queue_labels", ("4",), "", "what was a call that the model cannot label?", "Queue", "review"),
    Action("queue_redactions", ("5",), "", "was the redacted text a secret?", "Queue", "review"),
    Action("read", ("enter",), "story", "give the question the keyboard; then: read the whole story it is about",
           "Answer", "review"),
    Action("seek", ("slash",), "search", "type a query: results follow every key", "Search", "search"),
    Action("chips", ("f",), "filters", "to the filters, or back: h l move, space toggles one", "Search",
           "search"),
    Action("order", ("S",), "newest", "sort by newest; again: by best match", "Search", "search"),
    Action("question", ("a",), "ask", "ask a question: quotes answer it; in the box a leading ? asks", "Search",
           "search"),
    Action("manual", ("m",), "syntax", "everything you can type; enter puts it into the box", "Search", "search"),
    Action("again", ("ctrl+r", "f5"), "", "search again: more may be recorded since", "Search", "search"),
    Action("mark", ("space",), "", "mark or unmark the row; among the filters of Search: toggle one",
           "Mark", "now episodes learnings context search tasks sessions"),
    Action("mark_all", ("asterisk",), "", "mark all listed rows, or none; esc clears the marks", "Mark",
           "now episodes learnings context search tasks"),
    Action("left", ("h", "left"), "", "the filter before", "Move", "search", "h ←"),
    Action("right", ("l", "right"), "", "the next filter", "Move", "search", "l →"),
    Action("go", ("o",), "go there", "to the item itself: its moment, its story, the learning", "View", "search"),
    Action("pin_hit", ("p",), "pin", "pin it: found first, always told, kept; again: unpin", "View", "search",
           writes=True),
    Action("new_task", ("n",), "new", "write a task: what to do, by whom, where, when", "Task", "tasks",
           writes=True),
    Action("run_task", ("S",), "start", "start it now, whatever its time; asks first", "Task", "tasks", writes=True),
    Action("cancel_task", ("c",), "cancel", "cancel it, also while it runs; asks first", "Task", "tasks", writes=True),
    Action("retry_task", ("R",), "retry", "queue it again, with the tasks cancelled because of it", "Task", "tasks",
           writes=True),
    Action("output", ("o",), "output", "its latest output, as it grows; again: back", "Task", "tasks"),
    Action("edit_task", ("e",), "edit", "change it while it does not run", "Task", "tasks", writes=True),
    Action("attach", ("a",), "attach", "copy the command that attaches to its pane or session", "Task", "tasks"),
    Action("approve_task", ("A",), "approve", "let a task run that an agent queued", "Task", "tasks",
           writes=True),
    Action("accept", ("a",), "accept", "add its rule to the project's instructions, after a preview", "Learning",
           "learnings", writes=True),
    Action("write_how", ("W",), "as /how", "write the skill as a /how entry; with preview and undo", "Learning",
           "learnings", writes=True),
    Action("instructions", ("c",), "CLAUDE.md", "what is stale or repeated in native memory (CLAUDE.md ...); mend it",
           "Project", "learnings"),
    Action("next_check", ("v",), "view", "findings, hooks, redactions, storage, backups and purges", "Health",
           "health"),
    Action("last_check", ("V",), "", "the view before", "Health", "health"),
    Action("mend", ("f",), "fix", "fix findings that need no decision, after a preview", "Health", "health",
           writes=True),
    Action("audit", ("A",), "audit", "read everything: indexes, transcripts, a second detector", "Health", "health"),
    Action("sweep", ("S",), "sweep", "forget what is past its lifetime, after a preview", "Health", "health",
           writes=True),
    Action("backup", ("b",), "backup", "copy everything into one file now, while sessions go on", "Health", "health",
           writes=True),
    Action("rescan", ("R",), "rescan", "show a sample of texts to a second detector", "Health", "health", writes=True),
    Action("model", ("m",), "model", "have a model write the stories, or not; shows the cost first", "Health",
           "health", writes=True),
    Action("retrain", ("l",), "retrain", "train episode starts on your corrections; shows before and after",
           "Health", "health", writes=True),
    Action("stop", ("c",), "stop", "stop the background job", "Health", "health"),
    Action("dismiss", ("i",), "dismiss", "ignore it for good: nothing to learn from", "Learning", "learnings",
           writes=True),
    Action("snooze", ("z",), "snooze", "open again after a day, a week or a month", "Learning",
           "learnings review",
           writes=True),
    Action("exclude", ("e",), "exclude", "never tell this; again: use its score", "Choose", "context", writes=True),
    Action("include", ("i",), "include", "always tell this; again: use its score", "Choose", "context", writes=True),
    Action("ask", ("a",), "as if asked", "type a prompt: see what a session would be told for it", "View",
           "context"),
    Action("next_view", ("v",), "view", "at a start, at a prompt, after a reset, told before", "View", "context"),
    Action("last_view", ("V",), "", "the view before", "View", "context"),
    Action("past", ("h",), "told before", "what sessions were told, and whether it helped; again: back", "View",
           "context"),
    Action("ledger", ("L",), "ledger", "what each compaction of the session dropped, and what was given back", "View",
           "context"),
    Action("open", ("enter",), "open",
           "open what is under the cursor: details of a row, an episode's story, a shift in the stream", "View",
           NUMBERED),
    Action("story", ("w",), "story", "the story of the current work unit, or of the shift's or item's episode", "View",
           "now stance learnings context search"),
    Action("over", ("v",), "all sessions", "the stance of the project's sessions, one a row; again: of one", "View",
           "stance"),
    Action("resolved", ("R",), "resolved", "it is fixed; it opens again if it comes back", "State",
           "learnings review",
           writes=True),
    Action("reopen", ("o",), "reopen", "reopen it; the rule of an accepted one is removed", "State", "learnings",
           writes=True),
    Action("models", ("m",), "models", "the model cards: what labels calls, and how reliably", "View", "stance"),
    Action("relabel", ("L",), "labels", "the row's labels and why; correct them, one key each", "Labels", "now",
           writes=True),
    Action("follow", ("f",), "follow", "follow the newest row as rows arrive", "View", "now"),
    Action("pin", ("p",), "pin", "pin the work unit or episode, or unpin it", "Episode", "now episodes", writes=True),
    Action("pin_everywhere", ("P",), "", "pin it and tell it in every project; again: only in its own", "Choose",
           "now episodes search context", writes=True),
    Action("pin_item", ("p",), "pin", "pin it: always told, found first, kept; again: unpin", "Choose", "context",
           writes=True),
    Action("purge", ("x",), "purge", "forget it, or its file, session, project; with preview and undo",
           "Forget", "now episodes learnings context search tasks health sessions", writes=True),
    Action("more", ("greater_than_sign", "right_square_bracket"), "more", "preview a larger budget", "Budget",
           "context"),
    Action("less", ("less_than_sign", "left_square_bracket"), "less", "preview a smaller budget", "Budget", "context"),
    Action("configured", ("0",), "", "preview the configured budget again", "Budget", "context"),
    Action("keep", ("W",), "keep", "write the budget into config.toml", "Budget", "context", writes=True),
    Action("rename", ("R",), "rename", "give the episode a name of your own", "Episode", "episodes", writes=True),
    Action("split", ("S",), "split", "a new episode begins at this prompt of the story", "Episode", "episodes",
           writes=True),
    Action("merge", ("m",), "merge", "merge the episode into the one before it in its session", "Correct", "episodes",
           writes=True),
    Action("move", ("M",), "", "move this prompt of the story into another episode", "Correct", "episodes",
           writes=True),
    Action("resume", ("e",), "resumes", "link it to the earlier episode it continues, or unlink", "Correct", "episodes",
           writes=True),
    Action("narrate", ("n",), "narrate", "write its narrative now, in the background", "Correct", "episodes",
           writes=True),
    Action("undecide", ("o",), "", "this was no decision: never list or tell it again", "Decision", "episodes",
           writes=True),
    Action("reword", ("w",), "", "reword the decision", "Decision", "episodes", writes=True),
    Action("promote", ("W",), "", "write the decision as a /when entry; with preview and undo", "Decision",
           "episodes", writes=True),
    Action("link", ("l",), "link", "is its thread the same work as another? y or n", "Thread", "episodes",
           writes=True),
    Action("continue", ("c",), "continue", "the next session continues this thread; again: cancel that", "Thread",
           "episodes", writes=True),
    Action("browse_themes", ("b",), "themes", "choose a theme, and list its episodes", "List",
           "episodes"),
    Action("hot", ("h",), "hot files", "the files and folders with most edits and failures; what git moved",
           "List", "episodes"),
    Action("team", ("C",), "", "what others of the team did, decided and learned; mute a member there, or hear one",
           "Team", "now episodes learnings context"),
    Action("next_state", ("right_curly_bracket",), "state", "list the next state: open, accepted ...", "List",
           "learnings"),
    Action("last_state", ("left_curly_bracket",), "", "list the state before", "List", "learnings"),
    Action("projects", ("P",), "projects", "list this project, all, or those shared by several", "List", "learnings"),
    Action("map", ("h",), "heat map", "show every pattern by week, or hide the map", "List", "learnings"),
    Action("warning", ("exclamation_mark",), "", "the learning that this episode meets again", "View",
           "now episodes"),
    Action("changes", ("v",), "changes", "what the episode changed: its edits and commits as a diff", "View",
           "episodes"),
    Action("blame", ("F",), "why", "why the file's lines are as they are: prompts, episodes, commits", "View",
           "now episodes context"),
    Action("dispatch", ("d",), "dispatch", "make a task of it: opens the filled-in form; nothing starts", "Task",
           "episodes learnings", writes=True),
    Action("hand_on", ("H",), "hand on", "hand off: another client goes on from a brief, in tmux, here, or copied",
           "Task", "episodes", writes=True),
    Action("review", ("r",), "review", "the open questions: episodes, threads, learnings, labels, redactions", "Review",
           NUMBERED, writes=True),
    Action("copy", ("y",), "copy", "copy the row's text, the story or list, to the clipboard", "Copy", NUMBERED),
    Action("copy_id", ("Y",), "", "copy the id of what is under the cursor: `nmem tui` and commands take it", "Copy",
           NUMBERED),
    Action("editor", ("ctrl+e",), "", "open a copy of its text in $VISUAL or $EDITOR; edit a task's prompt there",
           "Copy", NUMBERED),
    Action("export", ("E",), "", "the whole view as text or JSON, into a file or to the clipboard; an episode to share",
           "Copy", NUMBERED),
    Action("sessions", ("s",), "sessions", "choose which session is shown", "Session", "now stance context"),
    Action("previous", ("minus",), "back", "back to where you were: a screen, a story, a moment, a session", "Screens",
           NUMBERED),
    Action("down", ("j", "down"), "", "one row down", "Move", NUMBERED, "j ↓"),
    Action("up", ("k", "up"), "", "one row up", "Move", NUMBERED, "k ↑"),
    Action("half_down", ("ctrl+d", "pagedown"), "", "half a page down", "Move", NUMBERED),
    Action("half_up", ("ctrl+u", "pageup"), "", "half a page up", "Move", NUMBERED),
    Action("top", ("g", "home"), "", "the first row: the oldest of the stream", "Move", NUMBERED),
    Action("bottom", ("G", "end"), "", "the last row; the stream follows from there", "Move", NUMBERED),
    Action("next_prompt", ("right_square_bracket",), "", "the next prompt of the story", "Move", "episodes"),
    Action("last_prompt", ("left_square_bracket",), "", "the prompt of the story before", "Move", "episodes"),
    Action("next_evidence", ("right_square_bracket",), "", "the next piece of evidence", "Move", "learnings"),
    Action("last_evidence", ("left_square_bracket",), "", "the previous piece of evidence", "Move", "learnings"),
    Action("next_failure", ("n",), "", "the next failure, older than the cursor's row", "Move", "now"),
    Action("last_failure", ("N",), "", "the next failure, newer than the cursor's row", "Move", "now"),
    Action("details_down", ("J",), "", "scroll the open details or story down", "Move",
           "now episodes learnings context search tasks sessions"),
    Action("details_up", ("K",), "", "scroll the open details or story up", "Move",
           "now episodes learnings context search tasks sessions"),
    Action("reload", ("ctrl+r", "f5"), "", "refresh the figures now", "Health", "health"),
    Action("search_here", ("ctrl+f",), "", "search everything recorded of this project", "Search",
           "now episodes stance learnings context tasks health sessions"),
    Action("cost", ("dollar_sign",), "cost", "what sessions cost: by day, model, project, thread, episode or session",
           "View", "now health"),
    Action("undo", ("u",), "undo", "undo your newest change, also after a restart; an older one is named first",
           "General",
           writes=True),
    Action("upgrade", ("O",), "upgrade", "upgrade the database of an older nmem, after a preview",
           "General", writes=True),
    Action("back", ("escape",), "", "close what is open: details, story, filter", "General"),
    *(Action(f"show_{tab.mode}", tuple(tab.key), "", f"the screen {tab.name}: {tab.help}", "Screens") for tab in TABS),
    Action("next_screen", ("tab",), "", "the next screen", "Screens"),
    Action("previous_screen", ("shift+tab",), "", "the previous screen", "Screens"),
    Action("theme", ("t",), "theme", "dark or light", "General"),
    Action("settings", ("comma",), "", "how nmem config changes a setting: attention (bell, notices), keys, theme ...",
           "General"),
    Action("demo", ("D",), "", "watch a recorded session played into a temporary database", "General"),
    Action("quit", ("q", "ctrl+q"), "quit", "leave the cockpit", "General"),
]  # fmt: skip
_USE: Mapping[str, str] = {
    "now": "open story filter relabel sessions follow purge pin previous next_failure",
    "episodes": "open filter split browse_themes hot review merge pin previous rename resume link purge",
    "stance": "open story over sessions previous filter models",
    "learnings": "open accept dismiss snooze resolved reopen write_how filter dispatch next_state previous",
    "context": "exclude include pin_item ask next_view ledger open previous filter purge",
    "search": "open go pin_hit seek order chips previous purge",
    "tasks": "open new_task approve_task run_task cancel_task retry_task output edit_task filter attach previous",
    "health": "open next_check stop mend audit backup retrain model sweep previous purge",
    "review": "read before next_queue",
    "sessions": "open resume_session tag_session archive_session name_session sort_sessions which_sessions filter",
}
"""What a person presses most on each screen, first what is shown where there is room for little."""
BY_ID = {action.id: action for action in ACTIONS}


def add(*given: Action) -> None:
    """Actions of a screen that is not listed in model.screens: its module adds them before its class is made."""
    ACTIONS.extend(given)
    BY_ID.update({action.id: action for action in given})


@cache
def handlers(owner: type, prefix: str) -> Mapping[str, Callable[[Any], Any]]:
    """The methods of a class that carry actions out (`do_`), or say why they do not apply now (`may_`), by action."""
    return {
        name.removeprefix(prefix): method
        for each in reversed(owner.__mro__)
        for name, method in vars(each).items()
        if name.startswith(prefix)
    }


def of(context: str, keys: Keys = _BUILT_IN) -> list[Action]:
    """The actions that work in a screen: its own, then those of every screen."""
    own = [action for action in ACTIONS if action.works_in(context)]
    return [action.with_keys(keys) for action in (*own, *(one for one in ACTIONS if one.context == EVERYWHERE))]


def bindings(context: str, keys: Keys = _BUILT_IN) -> list[Binding]:
    """The bindings of one context; each runs its action by name."""
    return [
        Binding(",".join(action.keys), f"app.act({action.id!r})", action.label or action.help, show=False, id=action.id)
        for action in (one.with_keys(keys) for one in ACTIONS if one.works_in(context))
        if action.keys
    ]


def bar(context: str, keys: Keys = _BUILT_IN) -> list[Action]:
    """The actions of the key bar: help, then the most used first; the last one is how to leave.

    The keys that answer a question of the review deck stand under the question, not here.
    """
    shown = {action.id: action for action in of(context, keys) if action.label and action.keys}
    rest = () if context == "review" else (each for each in shown if each != "quit")
    order = dict.fromkeys(("help", "upgrade", *_USE.get(context, "").split(), *rest, "quit"))
    return [shown[each] for each in order if each in shown]


_own: Keys = {}
_PLACE = re.compile(r"\{([a-z_]+)\}")


def use_keys(keys: Keys) -> None:
    """The person's own keys from now on."""
    global _own  # noqa: PLW0603 -- one person, one set of keys; drawings are functions that know no app
    _own = keys


def key_of(action_id: str) -> str:
    """The key of an action as a person reads it: its first."""
    return BY_ID[action_id].with_keys(_own).shown_key.partition(" ")[0]


def fill_keys(text: str) -> str:
    """A text of ours with a key for each `{action_id}`: never one from outside."""
    return _PLACE.sub(lambda found: key_of(found[1]), text)
