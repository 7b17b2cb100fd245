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
)
