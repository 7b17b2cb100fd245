"""The rules of ``seedstall lint``, in the order of their codes.

They say of files what the rules of `seedstall.rules` say of live programs: SS201 to SS204 are the same problems under
the same names, found in a file; SS205 and up are found in files alone.
"""

from __future__ import annotations

from seedstall.model.rule import Rule
from seedstall.rules.lint.ss201_seed_source_will_block import seed_source_will_block
from seedstall.rules.lint.ss202_seed_url_broken import seed_url_broken
from seedstall.rules.lint.ss203_seed_setting_ignored import seed_setting_ignored
from seedstall.rules.lint.ss204_default_algorithm_changed import default_algorithm_changed
from seedstall.rules.lint.ss205_malformed_option import malformed_option
from seedstall.rules.lint.ss206_broken_exec_form import broken_exec_form
from seedstall.rules.lint.ss207_strong_instance_untouched import strong_instance_untouched
from seedstall.rules.lint.ss208_strong_algorithms_loop import strong_algorithms_loop
from seedstall.rules.lint.ss209_security_file_replaced import security_file_replaced
from seedstall.rules.lint.ss210_strong_algorithm_unavailable import strong_algorithm_unavailable
from seedstall.rules.lint.ss211_setting_dropped import setting_dropped
from seedstall.rules.lint.ss212_unexpanded_variable import unexpanded_variable
from seedstall.rules.lint.ss213_tool_options_clobbered import tool_options_clobbered
from seedstall.rules.lint.ss214_feeder_in_container import feeder_in_container
from seedstall.rules.lint.ss215_feeder_feeds_itself import feeder_feeds_itself
from seedstall.rules.lint.ss216_leftover_setting import leftover_setting

ALL: tuple[Rule[...], ...] = (
    seed_source_will_block,
    seed_url_broken,
    seed_setting_ignored,
    default_algorithm_changed,
    malformed_option,
    broken_exec_form,
    strong_instance_untouched,
    strong_algorithms_loop,
    security_file_replaced,
    strong_algorithm_unavailable,
    setting_dropped,
    unexpanded_variable,
    tool_options_clobbered,
    feeder_in_container,
    feeder_feeds_itself,
    leftover_setting,
)
