"""Actions on episodes: rename, split, merge, reorder, link; each can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmem.episodes.text import outside
from nmem.read import episodes as episode_views
from nmem_tui.model.now_cards import flat
from nmem_tui.operations import commands
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.widgets.drawn import Frame
from nmem_tui.widgets.lines import Lines
from nmem_tui.widgets.story import StoryPane

if TYPE_CHECKING:
    from nmem.decisions.store import Decision
    from nmem.read.episode_store import Link
    from nmem.read.stories import Story
    from nmem.recall.remember import Plan

_DECISION = "put the cursor on a decision of the story: enter opens it"
_PROMPT = "put the cursor on a prompt of the story: enter opens it, ] goes to the next prompt"


class EpisodeActions(ListScreen):
    """The part of the screen Episodes that changes things; what it changes is what the story pane tells."""

    CONTEXT = "episodes"
    ALONE = frozenset(
        {
            "undecide", "reword", "promote", "rename", "split", "merge", "move", "resume", "narrate", "link",
            "continue", "dispatch", "hand_on", "copy_id", "changes", "blame",
        }
    )  # fmt: skip
    TOGETHER = frozenset({"pin", "purge"})

    def __init__(self) -> None:
        super().__init__()
        self.index: Lines = Lines(id="episodes")
        self.pane: StoryPane = StoryPane()
        self.over = self.telling = Frame(id="telling")
        self.split_at = 0
        """The prompt at which a new episode was asked for: the cursor goes there once it is."""

    @property
    def story(self) -> Story | None:
        """The story that is told."""
        return self.pane.story

    @property
    def unit_id(self) -> int | None:
        """The episode under the cursor."""
        raise NotImplementedError

    def wait_for_story(self, action: str) -> bool:
        """Whether the story under the cursor is not read yet; the action is then done once it is."""
        raise NotImplementedError

    @property
    def told(self) -> bool:
        """Whether the story is that of the episode under the cursor."""
        return self.story is not None and self.story.row.id == self.unit_id

    def may_pin(self) -> str | None:
        """Only an episode can be changed."""
        return None if self.marked or self.unit_id is not None else "no episode here"

    may_pin_everywhere = may_pin
    may_rename = may_pin
    may_purge = may_pin
    may_resume = may_pin
    may_dispatch = may_pin
    may_hand_on = may_pin

    def _units(self) -> list[int]:
        """The marked episodes that are listed, else the one under the cursor."""
        here = [] if self.marked or self.unit_id is None else [self.unit_id]
        return [each for each in self.meant if isinstance(each, int)] or here

    def do_dispatch(self) -> None:
        from nmem_tui.screens import task_form  # on use: start-up stays short

        if self.unit_id is not None:
            task_form.of_episode(self.cockpit, self.unit_id)

    def do_hand_on(self) -> None:
        from nmem_tui.screens import hand_on  # on use: start-up stays short

        if self.unit_id is not None:
            hand_on.ask(self.cockpit, self.unit_id, self.reads)

    def shares(self) -> bool:
        return self.unit_id is not None

    def share(self) -> None:
        from nmem_tui.screens import hand_on  # on use: start-up stays short

        if self.unit_id is not None:
            hand_on.share(self.cockpit, self.unit_id, self.reads)

    def do_pin(self) -> None:
        """Pin the episode, or unpin it; of several all are pinned, or none where all are."""
        if self.marked:
            self.cockpit.change(commands.pin_many("episode", self._units()))
            self.unmark()
            return
        if self.wait_for_story("pin"):
            return
        if self.story:
            self.cockpit.change(commands.pin(self.story.row.id, not self.story.row.pinned))

    def do_pin_everywhere(self) -> None:
        """Pin the episodes and tell them in every project, or in their own alone."""
        changes = [commands.pin_everywhere("episode", each) for each in self._units()]
        if changes:
            self.cockpit.change(commands.each(changes, "changed") if self.marked else changes[0])
            self.unmark()

    def do_purge(self) -> None:
        self.purge([f"episode/{each}" for each in self._units()])

    def do_rename(self) -> None:
        if self.wait_for_story("rename"):
            return
        from nmem_tui.screens.prompt_dialogs import Name  # on use: start-up stays short

        told = self.story
        if told is None:
            return
        unit_id, current = told.row.id, flat(told.row.name)

        def take(title: str | None) -> None:
            if title is not None and title != current:
                self.cockpit.change(commands.rename(unit_id, title))

        self.app.push_screen(Name("Name of the episode", current, flat(told.intent)[:80]), take)

    def _prompt(self) -> int | None:
        """The prompt under the story's cursor."""
        return self.pane.prompt if self.pane.has_focus else None

    def may_split(self) -> str | None:
        """Only at a prompt that is not the opening one."""
        if reason := self.may_pin():
            return reason
        prompt = self._prompt()
        if prompt is None:
            return _PROMPT
        told = self.story
        first = min((row for row in told.said_and_done if row.key // 2 in told.prompts and not row.key % 2),
                    key=lambda row: (row.at, row.key), default=None) if told else None  # fmt: skip
        return "the episode begins with this prompt already" if first and first.key // 2 == prompt else None

    def do_split(self) -> None:
        prompt = self._prompt()
        if self.story and prompt is not None:
            self.split_at = prompt
            self.cockpit.change(commands.split(self.story.row.id, prompt))

    def may_move(self) -> str | None:
        """Only a prompt can be moved."""
        return self.may_pin() or (None if self._prompt() is not None else _PROMPT)

    def do_move(self) -> None:
        from nmem_tui.screens.prompt_dialogs import Pick  # on use: start-up stays short

        told, prompt = self.story, self._prompt()
        if told is None or prompt is None:
            return
        here = told.row.id

        def take(unit_id: str | None) -> None:
            if unit_id:
                self.cockpit.change(commands.move(prompt, int(unit_id)))

        self.app.push_screen(Pick("Move the prompt into ─", lambda db: episode_views.siblings(db, here), here), take)

    def may_merge(self) -> str | None:
        """Only with an episode before it."""
        if reason := self.may_pin():
            return reason
        return None if not self.told or (self.story and self.story.previous) else "the first episode of its session"

    def do_merge(self) -> None:
        if self.wait_for_story("merge"):
            return
        if self.story and self.story.previous:
            self.cockpit.change(commands.merge(self.story.row.id, self.story.previous))

    def may_undecide(self) -> str | None:
        """Only a decision can be judged."""
        return None if self.told and self.pane.decision else _DECISION

    may_reword = may_undecide
    may_promote = may_undecide

    def _decision(self) -> Decision | None:
        """The decision under the story's cursor."""
        number = self.pane.decision
        return next((one for one in self.story.decisions if one.id == number), None) if self.story else None

    def do_undecide(self) -> None:
        if one := self._decision():
            self.cockpit.change(commands.undecide(one.id))

    def do_reword(self) -> None:
        from nmem_tui.screens.prompt_dialogs import Words  # on use: start-up stays short

        one = self._decision()
        if one is None:
            return
        number, current = one.id, flat(one.text)

        def take(text: str | None) -> None:
            if text and text != current:
                self.cockpit.change(commands.reword(number, text))

        self.app.push_screen(Words(f"decision/{number} in your words", current, "what was decided"), take)

    def do_promote(self) -> None:
        from nmem.decisions import change  # on use: start-up stays short
        from nmem_tui.screens.diff_dialog import Promote, situation
        from nmem_tui.screens.prompt_dialogs import Words

        one = self._decision()
        if one is None:
            return

        def write(planned: Plan | None) -> None:
            if planned is not None:
                self.cockpit.change(commands.promote(planned))

        def name(trigger: str | None) -> None:
            if trigger:
                plan = lambda db, words: change.written(db, one, words)  # noqa: E731 - where `one` is known
                self.app.push_screen(Promote(f"decision/{one.id}", "when", trigger, plan), write)

        self.app.push_screen(Words(situation("when"), "", "capping the retry backoff"), name)

    def do_resume(self) -> None:
        """It no longer goes on with an earlier episode; or choose which one it does."""
        if self.wait_for_story("resume"):
            return
        from nmem_tui.screens.prompt_dialogs import Pick  # on use: start-up stays short

        told = self.story
        if told is None:
            return
        here = told.row.id
        if told.resumes is not None:
            self.cockpit.change(commands.resume(here, None))
            return

        def take(unit_id: str | None) -> None:
            if unit_id:
                self.cockpit.change(commands.resume(here, int(unit_id)))

        self.app.push_screen(Pick("Continues ─", lambda db: episode_views.earlier(db, here), here), take)

    def may_narrate(self) -> str | None:
        """One at a time."""
        return self.may_pin() or ("a narrative is being written" if self.cockpit.narrating else None)

    def do_narrate(self) -> None:
        if self.wait_for_story("narrate"):
            return
        if self.story:
            self.cockpit.narrate(self.story.row.id)

    may_changes = may_pin

    def do_changes(self) -> None:
        from nmem_tui.screens.reason_dialogs import Changed  # on use: start-up stays short

        if self.unit_id is not None:
            self.app.push_screen(Changed(self.unit_id))

    def may_blame(self) -> str | None:
        """Where a file is recorded of the episode."""
        if reason := self.may_pin():
            return reason
        return None if self._file() or not self.told else "no file is recorded of this episode"

    def do_blame(self) -> None:
        if self.wait_for_story("blame"):
            return
        from nmem_tui.screens.reason_dialogs import Why  # on use: start-up stays short

        if self.story and (path := self._file()):
            self.app.push_screen(Why(self.story.row.session_id, path))

    def _file(self) -> str:
        """The file under the story's cursor, else the episode's hottest or first: the project's own before others."""
        if self.pane.has_focus and self.pane.path:
            return self.pane.path
        story = self.story if self.told else None
        called = [row.path for row in story.said_and_done if row.path and row.word.startswith("file")] if story else []
        found = [*(file.path for file in story.hot), *called] if story else []
        own = [path for path in found if not outside(path)]
        return next(iter(own or found), "")

    def _open_links(self) -> list[Link]:
        return [link for link in self.story.links if link.asked] if self.story else []

    def may_link(self) -> str | None:
        """Only where a link is proposed."""
        if reason := self.may_pin():
            return reason
        return None if not self.told or self._open_links() else "its thread has no link to confirm"

    def do_link(self) -> None:
        if self.wait_for_story("link"):
            return
        from nmem_tui.screens.review import Review  # on use: start-up stays short

        self.app.push_screen(Review(self._open_links()))

    def may_continue(self) -> str | None:
        """Only a thread can be continued."""
        if reason := self.may_pin():
            return reason
        return None if not self.told or (self.story and self.story.thread) else "the episode is in no thread yet"

    def do_continue(self) -> None:
        if self.wait_for_story("continue"):
            return
        thread = self.story.thread if self.story else None
        if thread is None:
            return
        title = flat(thread.title)[:60] or "this thread"
        self.cockpit.change(
            commands.forget_next(thread.project_id) if thread.chosen else commands.continue_next(thread.id, title)
        )

    def do_next_prompt(self) -> None:
        self._to_prompt(1)

    def do_last_prompt(self) -> None:
        self._to_prompt(-1)

    def _to_prompt(self, step: int) -> None:
        self.cockpit.action_act("open") if not self.pane.has_focus else None
        if not self.pane.to_prompt(step):
            self.notify("no further prompt that way", timeout=2)
