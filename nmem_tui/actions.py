"""Every action of the cockpit, once: bindings, the key bar, help and the palette are all made from this list.

An action is carried out by the method `do_<id>` of the active screen, else of the app. Whether it applies now is asked
of `may_<id>`, which gives the reason why not, or None; an action without such a method always applies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding

EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Action:
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

    def works_in(self, context: str) -> bool:
        """Whether a screen has it for its own."""
        return context in self.context.split()

    @property
    def shown_key(self) -> str:
        """The key as a person reads it."""
        return self.key_label or _NAMES.get(self.keys[0], self.keys[0])


_NAMES = {
    "question_mark": "?", "exclamation_mark": "!",
    "slash": "/", "colon": ":", "escape": "esc", "minus": "-", "plus": "+", "equals_sign": "=", "down": "↓", "up": "↑",
    "right_square_bracket": "]", "left_square_bracket": "[",
    "ctrl+p": "^p", "ctrl+q": "^q", "ctrl+d": "^d", "ctrl+u": "^u",
}  # fmt: skip

ACTIONS: tuple[Action, ...] = (
    Action(
        "help", ("question_mark", "f1"), "help", "every key and what it does; type to filter, enter runs", "General"
    ),
    Action(
        "filter",
        ("slash",),
        "filter",
        "show only rows with these words; esc clears",
        "Filter",
        "now episodes learnings tasks",
    ),
    Action("palette", ("colon", "ctrl+p"), "palette", "run any action by its name", "General"),
    Action("yes", ("y",), "yes", "answer yes: a new task begins here; one line of work", "Answer", "review"),
    Action("no", ("n",), "no", "answer no: it belongs to the task before; two different things", "Answer", "review"),
    Action("real", ("y",), "secret", "it was a secret", "Answer", "secrets"),
    Action("false_alarm", ("n",), "false alarm", "it was none: a false alarm", "Answer", "secrets"),
    Action("later", ("j", "down", "space"), "later", "leave this question for later", "Answer", "review secrets"),
    Action("before", ("k", "up"), "before", "back to the question before", "Answer", "review secrets"),
    Action("draw", ("d",), "draw", "draw another sample to judge", "Answer", "secrets"),
    Action("read", ("enter",), "story", "read the whole story that the question is about", "Answer", "review"),
    Action("seek", ("slash",), "search", "type what to look for: results come with every key", "Search", "search"),
    Action(
        "chips", ("f",), "filters", "to the filters, or back: h l move, space puts one in or out", "Search", "search"
    ),
    Action("order", ("s",), "newest", "the newest first; again: the best first", "Search", "search"),
    Action("manual", ("m",), "syntax", "all that can be typed; enter puts it into the box", "Search", "search"),
    Action("again", ("r",), "", "look once more: more may be recorded since", "Search", "search"),
    Action("toggle", ("space",), "", "put the filter into the query, or take it out", "Search", "search"),
    Action("left", ("h", "left"), "", "the filter before", "Move", "search", "h ←"),
    Action("right", ("l", "right"), "", "the next filter", "Move", "search", "l →"),
    Action("go", ("o",), "go there", "to the thing itself: its moment, its story, the learning", "View", "search"),
    Action("pin_hit", ("p",), "pin", "pin it: found first, always told, kept; again: unpin", "View", "search"),
    Action("copy_id", ("Y",), "", "copy its id, as commands take it", "Copy", "search"),
    Action("new_task", ("n",), "new", "write a task: what shall be done, by whom, where, when", "Task", "tasks"),
    Action("run_task", ("r",), "run", "start it now, whatever its time; asks first", "Task", "tasks"),
    Action("cancel_task", ("c",), "cancel", "cancel it, also while it runs; asks first", "Task", "tasks"),
    Action("retry_task", ("R",), "retry", "queue it again, with what was cancelled because of it", "Task", "tasks"),
    Action("output", ("o",), "output", "all that it said last, as it grows; again: back", "Task", "tasks"),
    Action("edit_task", ("e",), "edit", "change it while it does not run", "Task", "tasks"),
    Action("attach", ("a",), "attach", "copy the command that brings you into its pane or session", "Task", "tasks"),
    Action("remove_task", ("x",), "remove", "forget it with its history; asks first", "Task", "tasks"),
    Action(
        "accept", ("a",), "accept", "its rule into the project's instructions, after a preview", "Learning", "learnings"
    ),
    Action(
        "next_check", ("v",), "view", "findings, hooks, redactions, storage, backups and purges", "Health", "health"
    ),
    Action("last_check", ("V",), "", "the view before", "Health", "health"),
    Action("mend", ("f",), "fix", "mend what needs no decision, after a look at what that is", "Health", "health"),
    Action("audit", ("A",), "audit", "read everything: indexes, transcripts, a second detector", "Health", "health"),
    Action("sweep", ("s",), "sweep", "forget what is past its lifetime, after a look at what goes", "Health", "health"),
    Action("backup", ("b",), "backup", "copy everything into one file now, while sessions go on", "Health", "health"),
    Action("judge", ("r",), "review", "judge redactions: a secret or a false alarm, one key each", "Health", "health"),
    Action("rescan", ("R",), "rescan", "show a sample of texts to a second detector", "Health", "health"),
    Action("stop", ("c",), "stop", "stop what goes on in the background", "Health", "health"),
    Action("dismiss", ("i",), "dismiss", "ignore it: nothing to learn from, never open again", "Learning", "learnings"),
    Action("snooze", ("z",), "snooze", "open again after a day, a week or a month", "Learning", "learnings"),
    Action("exclude", ("x",), "exclude", "never tell this; again: by its score", "Choose", "context"),
    Action("include", ("i",), "include", "always tell this; again: by its score", "Choose", "context"),
    Action(
        "ask", ("a", "slash"), "as if asked", "type a prompt: what would a session be told for it?", "View", "context"
    ),
    Action("next_view", ("v",), "view", "at a start, at a prompt, after a reset, told before", "View", "context"),
    Action("last_view", ("V",), "", "the view before", "View", "context"),
    Action(
        "past", ("h",), "told before", "what sessions were told, and what came of it; again: back", "View", "context"
    ),
    Action(
        "open",
        ("enter",),
        "open",
        "open what is under the cursor: details of a row, an episode's story, a shift in the stream",
        "View",
        "now episodes stance learnings context search tasks health",
    ),
    Action("look", ("space",), "", "open what is told of the task, or close it", "View", "tasks"),
    Action(
        "story",
        ("w",),
        "story",
        "the story of the current work unit, or of the shift's or item's episode",
        "View",
        "now stance learnings context search",
    ),
    Action(
        "over",
        ("v",),
        "all sessions",
        "the stance of the project's sessions, one a row; again: of one",
        "View",
        "stance",
    ),
    Action("resolved", ("v",), "resolved", "it is fixed; it opens again if it comes back", "State", "learnings"),
    Action("reopen", ("o",), "reopen", "open again; the rule of an accepted one comes out", "State", "learnings"),
    Action("models", ("m",), "models", "the model cards: what labels calls, and how far to trust it", "View", "stance"),
    Action("relabel", ("L",), "labels", "the row's labels and why; say it better, one key each", "Labels", "now"),
    Action("follow", ("f",), "follow", "stay at the newest row as rows arrive", "View", "now"),
    Action("pin", ("p",), "pin", "pin the work unit or episode, or unpin it", "Episode", "now episodes"),
    Action("pin_item", ("p",), "pin", "pin it: always told, found first, kept; again: unpin", "Choose", "context"),
    Action(
        "purge",
        ("x",),
        "purge",
        "forget it wherever it is, after a look at what goes; u brings it back",
        "Forget",
        "now episodes learnings health",
    ),
    Action("more", ("plus", "equals_sign"), "more", "preview a larger budget", "Budget", "context"),
    Action("less", ("minus",), "less", "preview a smaller budget", "Budget", "context"),
    Action("configured", ("0",), "", "preview the configured budget again", "Budget", "context"),
    Action("keep", ("W",), "keep", "write the budget into config.toml", "Budget", "context"),
    Action("rename", ("R",), "rename", "give the episode a name of your own", "Episode", "episodes"),
    Action("split", ("s",), "split", "a new episode begins at this prompt of the story", "Episode", "episodes"),
    Action("merge", ("m",), "merge", "merge the episode into the one before it in its session", "Correct", "episodes"),
    Action("move", ("M",), "", "move this prompt of the story into another episode", "Correct", "episodes"),
    Action("resume", ("e",), "resumes", "it goes on with an earlier episode, or no longer does", "Correct", "episodes"),
    Action("narrate", ("n",), "narrate", "write its narrative now, in the background", "Correct", "episodes"),
    Action("link", ("l",), "link", "is its thread the same line of work as another? y or n", "Thread", "episodes"),
    Action(
        "continue",
        ("c",),
        "continue",
        "the next session continues this thread; again takes that back",
        "Thread",
        "episodes",
    ),
    Action("next_state", ("s",), "state", "list the next state: open, accepted, dismissed ...", "List", "learnings"),
    Action("last_state", ("S",), "", "list the state before", "List", "learnings"),
    Action("projects", ("P",), "projects", "of this project, of all, or what several share", "List", "learnings"),
    Action("map", ("h",), "heat map", "show the weeks of every pattern, or hide them", "List", "learnings"),
    Action(
        "warning", ("exclamation_mark",), "", "the learning that the episode runs into again", "View", "now episodes"
    ),
    Action(
        "dispatch",
        ("d",),
        "dispatch",
        "a task of it: the form, filled in; nothing starts",
        "Task",
        "episodes learnings",
    ),
    Action("review", ("r",), "review", "answer the open questions, one key each", "Review", "now episodes"),
    Action(
        "copy",
        ("y",),
        "copy",
        "copy the row's text, the story or list, to the clipboard",
        "Copy",
        "now episodes stance learnings context search tasks health",
    ),
    Action("sessions", ("s",), "sessions", "choose which session is shown", "Session", "now stance context"),
    Action("previous", ("minus",), "back", "go back to the session shown before", "Session", "now stance"),
    Action(
        "down",
        ("j", "down"),
        "",
        "one row down",
        "Move",
        "now episodes stance learnings context search tasks health",
        "j ↓",
    ),
    Action(
        "up", ("k", "up"), "", "one row up", "Move", "now episodes stance learnings context search tasks health", "k ↑"
    ),
    Action(
        "half_down",
        ("ctrl+d", "pagedown"),
        "",
        "half a page down",
        "Move",
        "now episodes stance learnings context search tasks health",
    ),
    Action(
        "half_up",
        ("ctrl+u", "pageup"),
        "",
        "half a page up",
        "Move",
        "now episodes stance learnings context search tasks health",
    ),
    Action(
        "top",
        ("g", "home"),
        "",
        "the first row: the oldest of the stream",
        "Move",
        "now episodes stance learnings context search tasks health",
    ),
    Action(
        "bottom",
        ("G", "end"),
        "",
        "the last row; the stream follows from there",
        "Move",
        "now episodes stance learnings context search tasks health",
    ),
    Action("next_prompt", ("right_square_bracket",), "", "the next prompt of the story", "Move", "episodes"),
    Action("last_prompt", ("left_square_bracket",), "", "the prompt of the story before", "Move", "episodes"),
    Action("next_evidence", ("right_square_bracket",), "", "the next place where it was met", "Move", "learnings"),
    Action("last_evidence", ("left_square_bracket",), "", "the place before where it was met", "Move", "learnings"),
    Action("next_failure", ("n",), "", "the next failure, older than the cursor's row", "Move", "now"),
    Action("last_failure", ("N",), "", "the next failure, newer than the cursor's row", "Move", "now"),
    Action(
        "details_down",
        ("J",),
        "",
        "scroll the open details or story down",
        "Move",
        "now episodes learnings context search tasks",
    ),
    Action(
        "details_up",
        ("K",),
        "",
        "scroll the open details or story up",
        "Move",
        "now episodes learnings context search tasks",
    ),
    Action("reload", ("ctrl+r", "f5"), "", "read the figures again now, quickly", "Health", "health"),
    Action("search_here", ("slash",), "", "search everything recorded of this project", "Search", "stance health"),
    Action("undo", ("u",), "undo", "take the newest correction back; works after a restart as well", "General"),
    Action("back", ("escape",), "", "close what is open: details, story, filter", "General"),
    Action("show_now", ("1",), "", "the screen Now: the session and its stream", "Screens"),
    Action("show_episodes", ("2",), "", "the screen Episodes: history by thread and day, their stories", "Screens"),
    Action("show_stance", ("3",), "", "the screen Stance: thinking and acting, widening and narrowing", "Screens"),
    Action(
        "show_learnings",
        ("4",),
        "",
        "the screen Learnings: what comes back, what mended it; ▲ counts the hot ones",
        "Screens",
    ),
    Action("show_context", ("5",), "", "the screen Context: what a session is told, and what that is worth", "Screens"),
    Action("show_search", ("6",), "", "the screen Search: one box over everything that is recorded", "Screens"),
    Action("show_tasks", ("7",), "", "the screen Tasks: work for coding clients, queued and run; · counts", "Screens"),
    Action("show_health", ("8",), "", "the screen Health: findings, hooks, redactions, storage, backups", "Screens"),
    Action("next_screen", ("tab",), "", "the next screen", "Screens"),
    Action("previous_screen", ("shift+tab",), "", "the previous screen", "Screens"),
    Action("theme", ("t",), "theme", "dark or light", "General"),
    Action("demo", ("D",), "", "watch a recorded session played into a temporary database", "General"),
    Action("quit", ("q", "ctrl+q"), "quit", "leave the cockpit", "General"),
)
BY_ID = {action.id: action for action in ACTIONS}


def of(context: str) -> list[Action]:
    """The actions that work in a screen: its own, then those of every screen."""
    own = [action for action in ACTIONS if action.works_in(context)]
    return own + [action for action in ACTIONS if action.context == EVERYWHERE]


def bindings(context: str) -> list[Binding]:
    """The bindings of one context; each runs its action by name."""
    return [
        Binding(",".join(action.keys), f"app.act({action.id!r})", action.label or action.help, show=False, id=action.id)
        for action in ACTIONS
        if action.works_in(context)
    ]


def bar(context: str) -> list[list[Action]]:
    """The key bar's groups, most wanted first; the first and the last, how to leave, are pinned."""
    shown = [action for action in of(context) if action.label and action.id != "quit"]
    first = [action for action in shown if action.id in ("help", "filter", "palette")]
    first.sort(key=lambda action: ("help", "filter", "palette").index(action.id))
    groups: dict[str, list[Action]] = {}
    for action in shown:
        if action not in first:
            groups.setdefault(action.group, []).append(action)
    return [first, *groups.values(), [BY_ID["quit"]]]


def matching(text: str, actions: Iterable[Action]) -> list[Action]:
    """The actions whose key, label, help or group has every word of `text`."""
    words = text.lower().split()
    return [
        action
        for action in actions
        if all(word in f"{action.shown_key} {action.label} {action.help} {action.group}".lower() for word in words)
    ]
