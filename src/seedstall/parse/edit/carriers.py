"""Who carries options to a JVM in a container: variables that somebody reads, and commands that start java."""

from __future__ import annotations

import re
from collections.abc import Iterable

from seedstall.knowledge.images import image_parts, jdk_of_image, product_of_image
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
_JAVA_IMAGE = re.compile(
    r"java|jdk|jre|temurin|corretto|zulu|semeru|liberica|openj9|graalvm|kafka|zookeeper|cassandra|elasticsearch"
    r"|opensearch|logstash|jenkins|keycloak|sonarqube|nexus|jetty|tomcat|wildfly|jboss|liberty|weblogic|activemq"
    r"|artemis|solr|spring|quarkus|maven|gradle|neo4j|nifi|hbase|hadoop|spark|payara|glassfish"
)
_JAVA_VARIABLE = re.compile(r"JAVA|JVM|JDK|JRE|CATALINA|MAVEN|GRADLE|KAFKA_(?:OPTS|HEAP)")
_COMPANION = re.compile(r"(?<!jmx)[-_]exporter|[-_]operator|[-_]curator|dashboards?|javascript")
_OWN = frozenset(
    (
        "CATALINA_OPTS", "KAFKA_OPTS", "ES_JAVA_OPTS", "OPENSEARCH_JAVA_OPTS", "LS_JAVA_OPTS", "ACTIVEMQ_OPTS",
        "JAVA_OPTS_APPEND", "PREPEND_JAVA_OPTS", "JENKINS_JAVA_OPTIONS", "INSTALL4J_ADD_VM_PARAMS", "SERVER_JVMFLAGS",
        "JVM_EXTRA_OPTS", "SOLR_OPTS", "EXTRA_JAVA_PROPERTIES",
    )
)  # fmt: skip
"""Variables of one program's start script: where such a name is set, that program runs."""
_READS_JAVA_OPTS = frozenset(("tomcat", "wildfly", "keycloak"))


def options_variable(image: str, names: Iterable[str] = (), kind: str = "") -> str:
    """The variable whose options reach the JVM of an image.

    An image of one's own does not tell by its name: *names* are the variables set there, *kind* is that of the
    operator's object around it (``kind: Elasticsearch``).
    """
    name = image_parts(image.lower())[0]
    set_there = frozenset(names)
    for word, variable in _IGNORES_TOOL_OPTIONS:
        if variable in set_there or word in kind.lower() or _is_server(name, word):
            return variable
    return TOOL_OPTIONS


def _is_server(name: str, word: str) -> bool:
    """Whether an image is the server itself and not what watches over it (``elasticsearch-exporter``, in Go)."""
    return word in name and not _COMPANION.search(name)


def is_java_image(image: str) -> bool:
    """Whether an image is known to run a JVM, or is named after what does."""
    name = image.lower()
    known = jdk_of_image(name) is not None or product_of_image(name) not in ("", "feeder")
    return (known or _JAVA_IMAGE.search(name) is not None) and not is_companion(name)


def is_java_variable(name: str) -> bool:
    """Whether a variable's name says that a JVM or its start script reads it."""
    return _JAVA_VARIABLE.search(name) is not None


def is_companion(image: str) -> bool:
    """Whether an image is named after a server of Java, and is a program of another kind beside it."""
    return _COMPANION.search(image_parts(image.lower())[0]) is not None


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
    if name in _OWN or any(_hands_on(c, name) for c in file.commands):
        return True
    if any(name in v.refs and v.name != name for v in file.variables):
        return True
    product = next((p for s in above(file, scope) if (p := file.scopes[s].product)), "")
    return name == "JAVA_OPTS" and product in _READS_JAVA_OPTS


def _hands_on(command: Command, name: str) -> bool:
    """Whether a command has the variable's value: without a shell only Kubernetes' ``$(NAME)`` is one."""
    if command.by_shell:
        return name in command.refs
    return any(f"$({name})" in w.text for w in command.words)


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
