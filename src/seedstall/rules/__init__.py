"""The rules, in the order of their codes. Adding one is one import and one line here."""

from __future__ import annotations

from seedstall.model.rule import Rule
from seedstall.rules.ss101_blocking_seed import blocking_seed
from seedstall.rules.ss102_threaded_seed import threaded_seed
from seedstall.rules.ss103_crng_not_ready import crng_not_ready
from seedstall.rules.ss201_seed_source_will_block import seed_source_will_block
from seedstall.rules.ss202_seed_url_broken import seed_url_broken
from seedstall.rules.ss203_seed_setting_ignored import seed_setting_ignored
from seedstall.rules.ss204_default_algorithm_changed import default_algorithm_changed
from seedstall.rules.ss301_entropy_pool_dry import entropy_pool_dry
from seedstall.rules.ss302_feeder_down import feeder_down
from seedstall.rules.ss303_random_device_replaced import random_device_replaced
from seedstall.rules.ss401_prng_contention import prng_contention
from seedstall.rules.ss501_stopped import stopped
from seedstall.rules.ss502_deadlock import deadlock
from seedstall.rules.ss503_script_held_up import script_held_up
from seedstall.rules.ss510_time_spent_elsewhere import time_spent_elsewhere
from seedstall.rules.ss521_name_lookup import name_lookup
from seedstall.rules.ss522_connection_wait import connection_wait
from seedstall.rules.ss523_jar_scan import jar_scan
from seedstall.rules.ss524_class_initialisation import class_initialisation
from seedstall.rules.ss525_file_lock import file_lock
from seedstall.rules.ss526_child_wait import child_wait
from seedstall.rules.ss527_native_start import native_start
from seedstall.rules.ss528_agent_start import agent_start
from seedstall.rules.ss529_schema_lock import schema_lock
from seedstall.rules.ss530_lock_held import lock_held
from seedstall.rules.ss531_file_access import file_access
from seedstall.rules.ss532_debugger_wait import debugger_wait
from seedstall.rules.ss533_provider_recursion import provider_recursion
from seedstall.rules.ss534_standing_still import standing_still
from seedstall.rules.ss535_cpu_throttled import cpu_throttled
from seedstall.rules.ss536_cpu_spin import cpu_spin
from seedstall.rules.ss537_collecting import collecting
from seedstall.rules.ss538_out_of_memory import out_of_memory
from seedstall.rules.ss539_killed_while_starting import killed_while_starting
from seedstall.rules.ss540_silent_start import silent_start
from seedstall.rules.ss541_measured_run import measured_run
from seedstall.rules.ss542_resource_refused import resource_refused
from seedstall.rules.ss543_safepoint_wait import safepoint_wait
from seedstall.rules.ss544_swapped_out import swapped_out

ALL: tuple[Rule[...], ...] = (
    blocking_seed,
    threaded_seed,
    crng_not_ready,
    seed_source_will_block,
    seed_url_broken,
    seed_setting_ignored,
    default_algorithm_changed,
    entropy_pool_dry,
    feeder_down,
    random_device_replaced,
    prng_contention,
    stopped,
    deadlock,
    script_held_up,
    time_spent_elsewhere,
    name_lookup,
    connection_wait,
    jar_scan,
    class_initialisation,
    file_lock,
    child_wait,
    native_start,
    agent_start,
    schema_lock,
    lock_held,
    file_access,
    debugger_wait,
    provider_recursion,
    standing_still,
    cpu_throttled,
    cpu_spin,
    collecting,
    out_of_memory,
    killed_while_starting,
    silent_start,
    measured_run,
    resource_refused,
    safepoint_wait,
    swapped_out,
)

OF_SCRIPTS = tuple(rule for rule in ALL if rule.code in ("SS101", "SS503"))
"""Those that are asked of a process that is no JVM and has none below it: the rest would tell of a JVM."""
