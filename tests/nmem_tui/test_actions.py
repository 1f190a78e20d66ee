"""The registry of actions, held to what every one of them promises: a help, a method, a key of its own, a test."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nmem_tui import screens as screen_modules
from nmem_tui.app import Cockpit
from nmem_tui.keymap import meet
from nmem_tui.model.actions import ACTIONS, BY_ID, EVERYWHERE, NUMBERED, bar, bindings, of
from nmem_tui.screens.base import View
from nmem_tui.screens.modal import Modal

HERE = Path(__file__).parent
IDS = [action.id for action in ACTIONS]
PLACES = sorted({place for action in ACTIONS for place in action.context.split()} - {EVERYWHERE})

DRIVEN = {
    ("test_screens.py", "test_the_palette_tells_how_settings_are_changed"): "settings",
    ("test_asking.py", "test_a_key_asks_and_enter_opens_the_episode_of_a_quote"): "question",
    ("test_cost.py", "test_rows_and_time_are_turned_and_the_key_works_from_now_and_health"): "cost",
    ("test_context.py", "test_a_file_is_always_told"): "include bottom",
    ("test_context.py", "test_a_prompt_is_answered_while_it_is_typed_and_after_a_reset_nothing_is_chosen"): (
        "next_view back"
    ),
    ("test_context.py", "test_excluding_changes_the_text_at_once_and_undo_or_the_same_key_brings_it_back"): "exclude",
    ("test_context.py", "test_pinning_an_episode_and_a_file"): "pin_item undo",
    ("test_context.py", "test_the_budget_is_tried_and_kept_on_demand"): "more less configured keep",
    ("test_context.py", "test_the_text_is_the_one_that_would_be_told_and_things_lead_to_their_stories"): (
        "ask down show_context open"
    ),
    ("test_ledger.py", "test_compactions_are_turned_and_each_thing_says_what_became_of_it"): "ledger",
    ("test_context.py", "test_what_was_told_with_what_became_of_it"): "past story",
    ("test_episodes.py", "test_a_prompt_is_moved_and_a_link_answered_from_the_story_and_a_thread_goes_on"): (
        "continue yes link move"
    ),
    ("test_episodes.py", "test_list_stands_by_day_and_thread_and_is_filtered"): "filter show_episodes",
    ("test_episodes.py", "test_an_episode_is_split_and_merged_and_each_is_undone"): "merge split next_prompt",
    ("test_episodes.py", "test_narrate_tells_when_it_is_done"): "narrate",
    ("test_episodes.py", "test_names_and_pins_are_given_and_taken_back"): "pin pin_everywhere rename",
    ("test_changes.py", "test_v_shows_what_an_episode_changed_and_y_copies_it"): "changes",
    ("test_changes.py", "test_f_on_an_edit_of_the_story_tells_why_its_files_lines_are_so"): "blame",
    ("test_decisions.py", "test_a_story_shows_what_was_decided_and_its_keys_judge_it"): "undecide",
    ("test_decisions.py", "test_a_decision_is_worded_anew"): "reword",
    ("test_decisions.py", "test_a_decision_becomes_an_entry_once_its_diff_was_seen"): "promote",
    ("test_learnings.py", "test_skills_are_listed_apart_and_become_an_entry_of_how_or_a_clients_skill"): "write_how",
    ("test_episodes.py", "test_resume_and_unresume"): "resume",
    ("test_episodes.py", "test_review_asks_one_question_a_card"): "no review",
    ("test_episodes.py", "test_themes_are_browsed_and_list_their_episodes"): "browse_themes",
    ("test_hot.py", "test_the_key_lists_files_folders_and_moves_and_enter_lists_episodes"): "hot",
    ("test_team.py", "test_the_key_lists_what_others_did_and_mutes_and_hears_them"): "team",
    ("test_tuning.py", "test_the_key_turns_the_model_on_and_off_and_now_says_so"): "model",
    ("test_tuning.py", "test_retraining_shows_before_and_after_and_keeps_only_with_y"): "retrain",
    ("test_every_key.py", "test_failures_are_gone_to_with_their_labels_and_the_newest_row_is_followed"): (
        "follow next_failure last_failure relabel"
    ),
    ("test_every_key.py", "test_it_is_left_and_ctrl_c_says_how"): "quit",
    ("test_every_key.py", "test_lists_are_moved_through"): "half_down half_up top",
    ("test_every_key.py", "test_prompts_and_evidence_are_gone_through_both_ways"): (
        "last_prompt next_evidence last_evidence"
    ),
    ("test_every_key.py", "test_screens_follow_one_another_and_are_named_by_number"): (
        "next_screen previous_screen search_here"
    ),
    ("test_every_key.py", "test_the_deck_s_cards_and_queues_are_gone_through_both_ways"): (
        "later before draw next_queue last_queue queue_boundaries queue_links queue_learnings queue_labels "
        "queue_redactions read"
    ),
    ("test_every_key.py", "test_the_search_box_and_its_filters"): "seek chips again left right",
    ("test_every_key.py", "test_the_theme_turns_and_the_demo_leaves_the_database_alone"): "theme demo",
    ("test_every_key.py", "test_views_are_turned_both_ways"): "next_check last_check last_view",
    ("test_every_key.py", "test_what_is_told_beside_the_list_is_scrolled"): "details_down details_up",
    ("test_hand_on.py", "test_another_client_goes_on_in_this_terminal"): "hand_on",
    ("test_host.py", "test_a_story_is_read_in_the_editor_as_a_copy"): "editor",
    ("test_host.py", "test_every_screen_is_copied_and_goes_out_whole_as_text_and_as_data"): (
        "projects copy copy_id show_now show_stance show_learnings show_search show_tasks show_health export"
    ),
    ("test_health.py", "test_a_backup_is_whole_or_leaves_nothing"): "backup",
    ("test_health.py", "test_the_worst_finding_stands_first_and_what_f_shows_is_fixed_only_with_y"): "mend",
    ("test_health.py", "test_purge_shows_what_goes_takes_it_and_gives_it_back"): "purge up",
    ("test_health.py", "test_sweep_counts_first_and_forgets_only_with_y"): "sweep",
    ("test_health.py", "test_the_deep_audit_reads_everything_on_a_key_only"): "audit reload",
    ("test_health.py", "test_the_second_detector_fills_the_deck"): "rescan",
    ("test_health.py", "test_work_is_stopped_and_only_one_goes_on"): "stop",
    ("test_instructions.py", "test_findings_then_the_diff_and_only_y_writes"): "instructions",
    ("test_legend.py", "test_the_help_lists_the_signs_of_the_screen"): "signs",
    ("test_learnings.py", "test_accept_shows_the_diff_and_only_y_writes"): "accept",
    ("test_learnings.py", "test_dismiss_resolve_reopen_and_undo"): "dismiss resolved reopen",
    ("test_learnings.py", "test_hot_ones_stand_first_states_are_listed_and_words_filter"): "next_state last_state",
    ("test_learnings.py", "test_narrow_views_are_as_accepted"): "map",
    ("test_learnings.py", "test_now_and_the_story_warn_with_their_reason_and_one_key_opens_the_learning"): "warning",
    ("test_learnings.py", "test_snooze"): "snooze",
    ("test_marking.py", "test_all_that_are_listed_are_marked_and_purged_and_brought_back"): "mark_all",
    ("test_marking.py", "test_episodes_are_pinned_together_and_taken_back_together"): "mark",
    ("test_screens.py", "test_help_and_palette_list_actions_and_run_one_and_a_filter_counts"): "help palette",
    ("test_screens.py", "test_a_session_is_called_by_what_it_was_begun_for_is_switched_to_and_left"): (
        "sessions previous"
    ),
    ("test_replaced.py", "test_the_older_one_is_offered_its_upgrade"): "upgrade",
    ("test_search.py", "test_results_come_while_typing_and_filters_go_in_and_out_by_key_mouse_and_manual"): (
        "order manual"
    ),
    ("test_search.py", "test_a_hit_leads_to_the_thing"): "go",
    ("test_search.py", "test_a_hit_is_copied_and_pinned_and_undo_takes_that_back"): "pin_hit",
    ("test_sessions.py", "test_states_stand_in_the_list_which_is_sorted_filtered_and_shows_archived_ones"): (
        "sort_sessions which_sessions show_sessions"
    ),
    ("test_sessions.py", "test_sessions_are_named_tagged_and_archived_and_undo_brings_them_back"): (
        "name_session tag_session archive_session"
    ),
    ("test_sessions.py", "test_without_tmux_the_command_is_copied_and_beside_it_a_pane_is_opened"): "resume_session",
    ("test_sessions.py", "test_a_deleted_transcript_is_given_back_and_then_resumed"): "restore_transcript",
    ("test_stance.py", "test_a_long_session_is_drawn_as_accepted"): "over",
    ("test_stance.py", "test_model_cards_say_corpus_figures_threshold_and_failures"): "models",
    ("test_tasks.py", "test_a_queued_task_is_edited"): "edit_task",
    ("test_tasks.py", "test_a_task_is_written_and_queued"): "new_task",
    ("test_tasks.py", "test_an_episode_becomes_a_task_once_its_folder_is_there"): "dispatch",
    ("test_tasks.py", "test_what_is_at_work_stands_first_then_the_queue_and_words_filter_them"): "attach",
    ("test_tasks.py", "test_cancel_asks_and_takes_what_needs_it_along_and_retry_queues_again"): (
        "cancel_task retry_task"
    ),
    ("test_tasks.py", "test_detail_says_why_what_and_when_and_one_key_lets_what_an_agent_queued_run"): "approve_task",
    ("test_tasks.py", "test_output_is_followed_until_one_looks_further_up"): "output",
    ("test_tasks.py", "test_run_asks_then_starts_it_and_its_end_is_seen"): "run_task",
}  # fmt: skip
"""Test -> the actions that it drives by their keys, so that what they do is seen or read back from the database.

Whoever adds an action names its test here.
"""


def screens() -> dict[str, type[View]]:
    """The screens and decks, by their contexts."""
    from nmem_tui.screens.review import Review

    made: dict[str, Any] = {mode: type(make()) for mode, make in Cockpit.MODES.items()}
    return {**made, "review": Review}


@pytest.mark.parametrize("action", ACTIONS, ids=IDS)
def test_it_has_a_help_a_group_and_keys_that_a_terminal_sends(action: Any) -> None:
    assert action.help
    assert action.help[0].islower() or not action.help[0].isalpha()
    assert not action.help.endswith(".") or action.help.endswith("...")
    assert "\n" not in action.help
    assert len(action.help) <= 110
    assert action.group
    assert action.keys
    assert len(action.label) <= 12


def test_ids_are_distinct_and_contexts_are_screens() -> None:
    assert len(set(IDS)) == len(IDS) == len(BY_ID)
    assert set(PLACES) == set(screens())
    assert set(NUMBERED.split()) == set(Cockpit.MODES)


@pytest.mark.parametrize("place", PLACES)
def test_no_two_actions_of_one_place_share_a_key(place: str) -> None:
    for one, other in itertools.combinations(of(place), 2):
        shared = set(one.keys) & set(other.keys)
        assert not (shared and meet(one, other)), f"{one.id} and {other.id}: {shared}"


@pytest.mark.parametrize("place", PLACES)
def test_its_method_is_there(place: str) -> None:
    """On each screen that has it, or on the app for those of every screen."""
    screen = screens()[place]
    for action in of(place):
        if action.id.removeprefix("show_") in Cockpit.MODES:
            continue
        owner = screen if hasattr(screen, f"do_{action.id}") else Cockpit
        assert hasattr(owner, f"do_{action.id}"), f"do_{action.id} is missing on {place}"
        assert action.context == EVERYWHERE or owner is screen or hasattr(Cockpit, f"do_{action.id}")


def test_no_method_is_without_an_action() -> None:
    found = {name for owner in (Cockpit, *screens().values()) for name in dir(owner) if name.startswith("do_")}
    assert {name.partition("_")[2] for name in found} <= set(BY_ID)


async def test_every_key_reaches_its_action(make_db: Any, cockpit: Any, settled: Any) -> None:
    """What Textual finds for the key, with the keyboard where the screen puts it, is the action and nothing else."""
    async with cockpit(make_db("story"), (80, 24)) as pilot:
        for place in PLACES:
            if place == "review":
                await pilot.press("2", "r")
            else:
                await pilot.press(str(NUMBERED.split().index(place) + 1))
            await settled(pilot)
            if place == "search":
                await pilot.press("escape")
            screen = pilot.app.screen
            assert place == screen.CONTEXT
            own = {key: action for action in reversed(of(place)) for key in action.keys}
            for key, action in own.items():
                found = [each for _, at in screen._modal_binding_chain for each in at.key_to_bindings.get(key, ())]
                assert found, f"{key} does nothing on {place}"
                assert found[0].action == f"app.act({action.id!r})", f"{key} is {found[0].action} on {place}"
            if place == "review":
                await pilot.press("escape")


@pytest.mark.parametrize("place", PLACES)
def test_bar_bindings_and_list_are_of_the_registry(place: str) -> None:
    known = {action.id for action in of(place)}
    assert {action.id for action in bar(place)} <= known
    assert {binding.id for binding in bindings(place)} <= known


def test_every_action_is_driven_by_a_test() -> None:
    driven = [action for names in DRIVEN.values() for action in names.split()]
    assert sorted(driven) == sorted(set(driven)), "an action stands in the table twice"
    assert set(driven) == set(IDS), f"without a test: {set(IDS) - set(driven)}; gone: {set(driven) - set(IDS)}"


@pytest.mark.parametrize("test", DRIVEN, ids=[name for _, name in DRIVEN])
def test_the_tests_that_drive_them_are_there(test: tuple[str, str]) -> None:
    file, name = test
    source = (HERE / file).read_text("utf-8")
    assert f"def {name}(" in source
    for action in DRIVEN[test].split():
        known = (action, *BY_ID[action].keys)
        assert any(word in source for word in known), f"{action} does not occur in {file}"


def test_a_dialog_has_its_own_keys_alone() -> None:
    """Not those of the library's screens: only a dialog that binds tab itself has it."""
    for module in pkgutil.iter_modules(screen_modules.__path__, f"{screen_modules.__name__}."):
        importlib.import_module(module.name)
    dialogs = set(descendants(Modal))
    assert {"TaskForm", "Purge"} <= {dialog.__name__ for dialog in dialogs}
    for dialog in dialogs:
        assert dialog._merged_bindings is not None
        listed = [each for cls in dialog.__mro__ if issubclass(cls, Modal) for each in cls.__dict__.get("BINDINGS", ())]
        own = {key.strip() for binding in listed for key in binding.key.split(",")}
        keys = set(dialog._merged_bindings.key_to_bindings)
        assert not (keys - own) & {"tab", "shift+tab", "ctrl+c", "super+c"}, dialog


def descendants(base: type[Any]) -> Iterator[type[Any]]:
    """A class, and all that are made of it."""
    yield base
    for made in base.__subclasses__():
        yield from descendants(made)
