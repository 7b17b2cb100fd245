"""Images and containers: Dockerfile, Compose, Kubernetes manifests and patches, values of Helm charts."""

from __future__ import annotations

from collections.abc import Callable

from seedstall.engine.need import egd_need
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.jvm import Container, Environment, Launch, Product
from seedstall.model.settings import JdkSpan
from seedstall.parse.edit import chartvalues, dockerfile, manifest
from seedstall.parse.edit.carriers import variable_of_product
from seedstall.parse.edit.change import TOOL_OPTIONS
from seedstall.parse.edit.options import changed, changes, option
from seedstall.remedy import edited, place, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

HAND_ON = "name the Dockerfile, compose.yaml or manifest for a patch of it"


def docker(request: Request) -> Answer:
    """A patch of the Dockerfile that was named, else what to write into one."""
    where = place.given(request)
    if where is None:
        return _text(request, "docker")
    known = edited.with_jdk(request, _span(where, dockerfile.jdk_span))
    return edited.answer(
        known,
        where,
        dockerfile.set_egd,
        patch_file="Dockerfile.patch",
        by_hand=f'ENV {TOOL_OPTIONS}="${{{TOOL_OPTIONS}:-}} {option(known.egd)}" in the last stage',
        then="a new image: docker build, and containers made from it",
    )


def compose(request: Request) -> Answer:
    """A patch of the Compose file that was named, else what to write into one."""
    where = place.given(request)
    if where is None:
        return _text(request, "compose")
    return _manifest(request, where, "compose.patch", "docker compose up -d")


def kubernetes(request: Request) -> Answer:
    """A patch of the manifest that was named, else a strategic-merge patch to fill in."""
    where = place.given(request)
    if where is None:
        return _text(request, "kubernetes")
    then = f"kubectl apply -f {place.word(where.path.rpartition('/')[2])}"
    return _manifest(request, where, "manifest.patch", then)


def _manifest(request: Request, where: Place, patch_file: str, then: str) -> Answer:
    known = edited.with_jdk(
        request, _span(where, lambda data: manifest.jdk_span(data, container=request.container))
    )
    return edited.answer(
        known,
        where,
        lambda data, egd: manifest.set_egd(data, egd, container=request.container),
        patch_file=patch_file,
        by_hand=f"{option(known.egd)} in {TOOL_OPTIONS} of the container that runs java",
        then=then,
    )


def kubernetes_patch(request: Request) -> Answer:
    """A strategic-merge patch for ``kubectl patch``, with the names and values of the manifest that was named."""
    where = place.given(request)
    if where is None:
        return _text(request, "kubernetes-patch")
    data = where.content or b""
    known = edited.with_jdk(
        request, _span(where, lambda text: manifest.jdk_span(text, container=request.container))
    )
    try:
        made = manifest.strategic(data, known.egd, container=request.container)
    except ValueError as error:
        message = f"{where.path}: {error}"
        raise SeedstallError(message, "--surface kubernetes patches the manifest itself") from error
    if not made:
        return Answer(reason=f"{where.path} sets {known.egd} already")
    judgement = egd_need(known.case, known.egd)
    nothing = value.refused(known, judgement)
    if nothing is not None:
        return nothing
    text = templates.render("fix/kubernetes-patch/patch.yaml.j2", patches=made)
    pods = tuple(
        "the variables of a pod that runs cannot be changed: delete it and apply the manifest"
        for one in made
        if one.kind in ("Pod", "Job")
    )
    notes = dict.fromkeys(note for one in made for note in one.notes)
    told = (*pods[:1], *notes, *value.about(known), *value.told(judgement))
    return Answer(text.encode(), notes=told)


def helm(request: Request) -> Answer:
    """A patch of the chart's values that were named, else values to hand to helm."""
    where = place.given(request)
    if where is None:
        return _text(request, "helm")
    return edited.answer(
        request,
        where,
        chartvalues.set_egd,
        patch_file="values.patch",
        by_hand=f"{option(request.egd)} in the JVM options that the chart takes, or in {TOOL_OPTIONS}",
        then="helm upgrade RELEASE CHART -f values.yaml",
    )


def _span(where: Place, read: Callable[[bytes], JdkSpan | None]) -> JdkSpan | None:
    """What the file says of its JDK; what is wrong with the file is told where it is edited."""
    try:
        return read(where.content or b"")
    except ValueError:
        return None


def _text(request: Request, surface: str) -> Answer:
    """What to write by hand, with what the process that runs has in the variable now."""
    launch = request.case.value(Launch)
    if launch is not None and launch.tool:
        raise UsageError(
            f"{request.target} is a program of the JDK: {launch.tool}",
            place.fitting(request, surface),
        )
    product = request.case.value(Product)
    variable = variable_of_product(product.key if product is not None else "")
    held, notes = _held(request, variable)
    whole = changed(held, changes(held, request.egd))
    outside = request.case.value(Container)
    if request.pid is not None and outside is not None and not outside.inside:
        notes += (f"{request.target} runs in no container, as far as can be seen",)
    return edited.text(
        request,
        f"fix/{surface}/text.j2",
        *notes,
        HAND_ON,
        options=whole,
        variable=variable,
    )


def _held(request: Request, variable: str) -> tuple[str, tuple[str, ...]]:
    """What the variable holds in the process, and what is said of it."""
    environment = request.case.value(Environment)
    if environment is None:
        note = (
            f"whether the image, the cluster or an injector sets {variable} too could not be seen: what it holds"
            " goes before the option, since a variable that is set anew replaces the other"
        )
        return "", (note,)
    held = environment.get(variable, "").strip()
    if not held:
        return "", ()
    note = (
        f"the process has a {variable} already (from its image, its manifest or an injector): the new value repeats"
        " it; what an injector adds to each new pod need not be repeated"
    )
    return held, (note,)


def _file(request: Request) -> Place:
    named = place.given(request)
    if named is None:
        raise UsageError("no file is known", HAND_ON)
    return named


ANSWERS = {
    "docker": docker,
    "compose": compose,
    "kubernetes": kubernetes,
    "kubernetes-patch": kubernetes_patch,
    "helm": helm,
}
PLACES = dict.fromkeys(("docker", "compose", "kubernetes", "helm"), _file)
