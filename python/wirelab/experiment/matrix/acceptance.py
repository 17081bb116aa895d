"""Whether a combination of an experiment's lists can be measured."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from wirelab.documents.plan import Window
from wirelab.errors import StackError
from wirelab.experiment import yaml_source as documents
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.experiment.link_profiles import LOOPBACK
from wirelab.experiment.loads import Background, Load
from wirelab.experiment.matrix.fitness import Place
from wirelab.experiment.messages import Message
from wirelab.experiment.model import NO_CAPTURE
from wirelab.format.counting import format_count
from wirelab.format.units import format_bytes
from wirelab.stack import operations
from wirelab.stack import rules as legality
from wirelab.stack.external import ExternalStack
from wirelab.stack.manifests import Catalogue
from wirelab.stack.reference import Stack


class Impossible(StackError):
    """An impossible combination."""

    def __init__(self, error: StackError, where: documents.Path) -> None:
        super().__init__(error.message, error.remedy)
        self.where = where
        """The key of the experiment that requests it."""

    @property
    def reason(self) -> str:
        """Message and remedy on one line."""
        return f"{self.message}. {self.remedy}".rstrip(". ")


@contextmanager
def report_at(*key: str | int) -> Iterator[None]:
    """Reports errors within the block at that key of the experiment."""
    try:
        yield
    except StackError as error:
        raise Impossible(error, key) from None


def accept_message(stack: Stack, message: Message | ExternalMessage) -> None:
    refusals = (operations.refusal(name, stack.axes) for name in message.called)
    refusal = next(filter(None, refusals), "")
    if refusal:
        raise StackError(f"{stack}: {refusal}", "remove the message or the stack")
    if message.data_problem:
        raise StackError(message.data_problem, "give a readable file")


def accept_caller(
    stack: Stack, message: Message | ExternalMessage, load: Load, window: Window
) -> None:
    refusal = legality.caller_refusal(message.name, load.point(), stack.axes)
    refusal = refusal or legality.window_refusal(window, stack.axes)
    if refusal:
        near = stack.with_axes({"caller": "engine"})
        raise StackError(f"{stack}: {refusal}", f"the nearest legal stack is {near}")


def accept_background(stack: Stack, probe: Message | ExternalMessage, group: Background) -> None:
    """Checks that the service of the probe can also serve a background group."""
    message = group.message
    if message.contract != probe.contract:
        raise StackError(
            f"{stack}: group {group.name} calls {message.name} of contract {message.contract}, but "
            f"the probe calls {probe.name} of {probe.contract}, and a service has one contract",
            f"choose an operation of {probe.contract}",
        )
    sizes = sorted(message.hello_sizes), sorted(probe.hello_sizes)
    if all(sizes) and sizes[0] != sizes[1]:
        raise StackError(
            f"{stack}: group {group.name} calls Hello with {format_bytes(sizes[0][0])}, but the "
            f"probe with {format_bytes(sizes[1][0])}, and a service has one text of Hello",
            "use one size, or another operation, such as Submit or Download",
        )
    accept_message(stack, message)


def accept_link(stack: Stack, external: ExternalService | None, link: str) -> None:
    if link != LOOPBACK and external is not None and external.url is not None:
        raise StackError(
            f"{stack}: a running service cannot be moved to an end of link {link}",
            "use `command` to start the service there, or remove the link",
        )
    rule = legality.link_rule(link, stack.axes)
    if rule is not None:
        near = stack.find_nearest(rule.repair)
        raise StackError(f"{stack}: {rule.reason}", f"the nearest legal stack is {near}")


def accept_capture(stack: Stack, capture: str, load: Load) -> None:
    if capture != NO_CAPTURE and load.background:
        raise StackError(
            f"{stack}: the packets of probe and background groups cannot be distinguished",
            "set `capture: none`, or remove the background groups",
        )
    if capture != NO_CAPTURE and stack.axes.socket == "unix":
        raise StackError(f"{stack}: a Unix socket has no packets", "set `capture: none`")


def accept_host(stack: Stack, external: ExternalService | None) -> None:
    if external is not None and external.command is None and not external.pid:
        raise StackError(
            f"{stack}: the process of this service is not known, so it cannot be recorded",
            "declare its pid, or remove host",
        )


def accept_clients(stack: Stack, clients: int, load: Load, window: Window, place: Place) -> None:
    """Checks that several engines can divide the load."""
    if clients == 1:
        return
    axes = stack.axes
    reasons = {
        "only wirelab's engine divides a load": axes.caller != "engine",
        "the first calls of a cold service have one order": axes.start == "cold",
        "packets are captured of one client": place.capture != NO_CAPTURE,
        "a link has one client": place.link != LOOPBACK,
        "a CPU quota of the client is that of one process": axes.client.cpu_percent is not None,
    }
    reason = next((text for text, holds in reasons.items() if holds), "")
    if reason:
        raise StackError(f"{stack}: {clients} clients: {reason}", "remove clients")
    divided = {
        "concurrent call": min(load.concurrencies),
        "connection": axes.connection.count,
        "call": window.calls.calls if window.calls else None,
    }
    for noun, amount in divided.items():
        if amount is not None and amount < clients:
            raise StackError(
                f"{stack}: a load with {format_count(amount, noun)} gives one of {clients} clients "
                "none",
                f"raise that to {clients} or more, or use fewer clients",
            )


def accept_faults(
    stack: Stack, catalogue: Catalogue, contract: str, faults: Collection[str]
) -> None:
    if not faults:
        return
    if isinstance(stack, ExternalStack):
        raise StackError(f"{stack}: faults are switches of wirelab's services", "remove them")
    unknown = catalogue.manifest(stack, contract).unknown_faults(faults)
    if unknown:
        raise StackError(f"{stack}: the service has no fault {unknown[0]!r}", "use a rust service")


def accept_codec_times(
    stack: Stack, catalogue: Catalogue, message: Message | ExternalMessage
) -> None:
    if isinstance(stack, ExternalStack) or isinstance(message, ExternalMessage):
        raise StackError(
            f"{stack}: only wirelab's services can time their codec",
            "remove codec_times",
        )
    if message.operation is None:
        raise StackError(
            f"{stack}: codec_times needs a single operation, and {message.name} is not one",
            "remove codec_times, or use an operation",
        )
    if message.contract == "petclinic" and message.operation.startswith(("Update", "Delete")):
        raise StackError(
            f"{stack}: the reply of {message.operation} has no body, so no codec can be timed",
            "remove codec_times, or use an operation whose reply has a body",
        )
    if not catalogue.manifest(stack, message.contract).times_codec(stack, message.contract):
        raise StackError(
            f"{stack}: the service cannot time the codec of {message.contract}",
            "use binding rest with a codec other than text, or remove codec_times",
        )


def accept_external(service: ExternalService, message: Message | ExternalMessage) -> None:
    if service.problem:
        raise StackError(service.problem, "correct the declaration of the service")
    if isinstance(message, ExternalMessage) and (problem := service.problem_with(message)):
        raise StackError(problem, "correct the declaration of the service")
    own = isinstance(message, ExternalMessage) and all(
        request.has_body or request.grpc is not None for request in message.requests
    )
    if not own and not service.has_request:
        raise StackError(
            f"service {service.name} declares no request",
            "add grpc: {method: …, proto: …, json: …}, or messages with json",
        )
