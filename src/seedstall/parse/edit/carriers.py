"""Who carries options to a JVM in a container: variables that somebody reads, and commands that start java."""

from __future__ import annotations

from collections.abc import Iterable

from seedstall.knowledge.images import image_parts
from seedstall.knowledge.seedsource import DRBG_SINCE
from seedstall.knowledge.spelling import close
from seedstall.model.settings import UNKNOWN, Command, ConfigFile, SeedOption, Setting, Variable
from seedstall.parse.edit.change import ALWAYS_READ, TOOL_OPTIONS, above

LAUNCHER_OPTIONS = "JDK_JAVA_OPTIONS"
ENVIRONMENT = frozenset((Setting.DOCKER, Setting.KUBERNETES, Setting.COMPOSE))
_IGNORES_TOOL_OPTIONS = (
    ("elasticsearch", "ES_JAVA_OPTS"),
    ("opensearch", "OPENSEARCH_JAVA_OPTS"),
    ("logstash", "LS_JAVA_OPTS"),
)
"""Start scripts that unset JAVA_TOOL_OPTIONS, with a warning, and what they read instead.

elastic/elasticsearch ``distribution/src/bin/elasticsearch-env``, elastic/logstash ``bin/logstash.lib.sh``; OpenSearch
has them from there.
"""
_OWN = frozenset(
    (
        "CATALINA_OPTS", "KAFKA_OPTS", "ES_JAVA_OPTS", "OPENSEARCH_JAVA_OPTS", "LS_JAVA_OPTS", "ACTIVEMQ_OPTS",
        "JAVA_OPTS_APPEND", "PREPEND_JAVA_OPTS", "JENKINS_JAVA_OPTIONS", "INSTALL4J_ADD_VM_PARAMS", "SERVER_JVMFLAGS",
        "JVM_EXTRA_OPTS", "SOLR_OPTS", "EXTRA_JAVA_PROPERTIES",
    )
)  # fmt: skip
"""Variables of one program's start script: where such a name is set, that program runs."""
_READS_JAVA_OPTS = frozenset(("tomcat", "wildfly", "keycloak"))


def options_variable(image: str) -> str:
    """The variable whose options reach the JVM of an image."""
    name = image_parts(image.lower())[0]
    return next((v for word, v in _IGNORES_TOOL_OPTIONS if word in name), TOOL_OPTIONS)


def variable_of_product(key: str) -> str:
    """The same for a program that is known."""
    return dict(_IGNORES_TOOL_OPTIONS).get(key, TOOL_OPTIONS)


def is_read(file: ConfigFile, option: SeedOption, scope: int) -> bool:
    """Whether what carries the option hands it to the JVM, as far as the file tells."""
    if option.carrier == LAUNCHER_OPTIONS and _before_9(file, scope):
        return False
    if option.carrier in ALWAYS_READ:
        return True
    if option.variable is None:
        return False
    name = file.variables[option.variable].name
    if name in _OWN or any(name in c.refs for c in file.commands):
        return True
    if any(name in v.refs and v.name != name for v in file.variables):
        return True
    product = next((p for s in above(file, scope) if (p := file.scopes[s].product)), "")
    return name == "JAVA_OPTS" and product in _READS_JAVA_OPTS


def is_lost(file: ConfigFile, option: SeedOption, scope: int) -> bool:
    """Whether it is sure that nobody hands the option on: a plain java is started, or no JVM knows the variable."""
    if option.variable is None or is_read(file, option, scope):
        return False
    name = file.variables[option.variable].name
    return (
        bool(started(file, scope))
        or name == LAUNCHER_OPTIONS
        or any(close(name, known) for known in ALWAYS_READ)
    )


def _before_9(file: ConfigFile, scope: int) -> bool:
    """Whether the JDK there is one whose launcher has no JDK_JAVA_OPTIONS."""
    span = next((j for s in above(file, scope) if (j := file.scopes[s].jdk)), None)
    return span is not None and span.newest is not None and span.newest < DRBG_SINCE


def started(file: ConfigFile, scope: int) -> list[Command]:
    """The commands of a container that start a plain java, and show where its options end."""
    return [
        c
        for c in file.commands
        if c.scope == scope and c.start and c.launcher == "java" and c.main_from is not None
    ]


def last_named(file: ConfigFile, scopes: Iterable[int], name: str) -> Variable | None:
    """The environment variable *name* that a container has in the end: of the nearest scope, the last one."""
    for scope in scopes:
        found = [
            v
            for v in file.variables
            if v.scope == scope and v.name == name and v.how in ENVIRONMENT and v.exported
        ]
        if found:
            return found[-1]
    return None


def in_container(file: ConfigFile, option: SeedOption, scopes: Iterable[int], own: int) -> bool:
    """Whether an option belongs to what the container runs or has in its environment, not to a step of its making."""
    if option.scope not in scopes:
        return False
    if option.command is not None:
        return option.scope == own and file.commands[option.command].start
    return option.variable is not None and file.variables[option.variable].how in ENVIRONMENT


def is_list_word(file: ConfigFile, command: Command, index: int) -> bool:
    """Whether a word of a command is an element of a written list, in quotes."""
    start, end = command.words[index].outer
    raw = file.text[start:end]
    return not command.by_shell and raw[:1] == '"' and UNKNOWN not in command.words[index].text
