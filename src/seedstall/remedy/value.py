"""The value that a surface writes down: whether it may be, whether it is needed, and what is said about it."""

from __future__ import annotations

from seedstall.engine.need import Judgement, Need
from seedstall.knowledge.egd import EgdFault, egd_problem
from seedstall.model.errors import UsageError
from seedstall.model.jdk import JdkVersion
from seedstall.parse import setenv
from seedstall.remedy.request import Answer, Request

EGD = setenv.EGD
OWN_COMMENT = "# SecureRandom seed source (written by seedstall)"
"""Above a value that was said: whether that one blocks is not for us to say."""


def check_value(value: str, jdk: JdkVersion | None) -> tuple[str, ...]:
    """Warnings about a value said with ``--set-egd``.

    Raises:
        UsageError: it cannot be written down, breaks every SecureRandom, or gives numbers that are known.
    """
    try:
        setenv.check_value(value)
    except ValueError as error:
        raise UsageError(f"--set-egd: {error}") from error
    problem = egd_problem(value, jdk)
    if problem is None:
        return ()
    if problem.fault in (EgdFault.REFUSED, EgdFault.NO_RANDOMNESS):
        message = f"--set-egd {value}: {problem.message}"
        raise UsageError(message, f"--set-egd {problem.better}")
    return (f"--set-egd {value}: {problem.message}; {problem.better} is the usual value",)


def why(request: Request) -> str:
    """One clause why it is this value."""
    return f"-D{EGD}={request.value}, as asked" if request.value else request.advice.why


def about(request: Request) -> tuple[str, ...]:
    """Why this value, and what is not known about it."""
    if request.value:
        return check_value(request.value, request.jdk)
    reason = request.advice.why
    if request.jdk is not None:
        return (reason,)
    unknown = (
        "which JDK it is, is not known: say --jdk VERSION for the value that changes the least"
    )
    return (reason, unknown)


def refused(
    request: Request, judgement: Judgement, *, insists: bool | None = None
) -> Answer | None:
    """The answer that there is nothing to do, unless the user insists."""
    if judgement.need is Need.WANTED or (request.insists if insists is None else insists):
        return None
    notes = judgement.notes
    if judgement.need is Need.USELESS:
        notes += ("--force prints it all the same",)
    return Answer(reason=judgement.reason, notes=notes)


def told(judgement: Judgement) -> tuple[str, ...]:
    """What is said beside an output: also why it would be useless, where it is printed all the same."""
    return (judgement.reason, *judgement.notes) if judgement.reason else judgement.notes


def comment(request: Request) -> str:
    """The line above the setting: true for the value that stands below it."""
    return setenv.COMMENT if request.egd == request.advice.value else OWN_COMMENT
