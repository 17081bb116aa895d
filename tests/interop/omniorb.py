"""omniORB, an ORB in C++, by its Python binding and its own IDL compiler."""

from __future__ import annotations

import atexit
import base64
import importlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.interop import protobuf
from tests.interop.golden import CONTRACTS, Refused
from tests.interop.hosting import Hosted

Json = dict[str, Any]
MESSAGE_BYTES_MAX = 104_857_600
OPTIONS = (
    # Texts are UTF-8 on the wire (contracts/README.md, IIOP).
    *("-ORBnativeCharCodeSet", "UTF-8"),
    *("-ORBgiopMaxMsgSize", str(MESSAGE_BYTES_MAX)),
    *("-ORBmaxGIOPConnectionPerServer", "1"),
    # Milliseconds: a bound against hanging.
    *("-ORBclientCallTimeOutPeriod", "60000"),
)
PACKAGE = "wirelab_idl"
"""Where the stubs are put: the IDL's module is named as our own package."""


def require() -> None:
    """Skips the test, with the reason, where omniORB's binding is not installed."""
    if importlib.util.find_spec("omniORB") is None:
        pytest.skip("omniORB is not installed (PyPI: jeteve-omniorb, for Linux on x86_64)")


def compile_idl(contract: str, folder: Path) -> None:
    """Stubs and skeletons of a committed IDL into a package in ``folder``."""
    omniidl = Path(sys.executable).with_name("omniidl")
    source = CONTRACTS / "idl" / f"{contract}.idl"
    command = [str(omniidl), "-bpython", f"-Wbpackage={PACKAGE}", f"-C{folder}", str(source)]
    subprocess.run(command, check=True)


@cache
def _stubs() -> Any:
    """The package with the stubs of every contract."""
    folder = tempfile.mkdtemp(prefix="wirelab-idl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for contract in protobuf.NAMES:
        compile_idl(contract, Path(folder))
    sys.path.insert(0, folder)
    return importlib.import_module(f"{PACKAGE}.wirelab")


@cache
def orb() -> Any:
    """The ORB of this process."""
    corba = importlib.import_module("omniORB.CORBA")
    return corba.ORB_init(["wirelab", *OPTIONS], corba.ORB_ID)


class OmniClient:
    """A reference narrowed to the contract's interface."""

    def __init__(self, hosted: Hosted) -> None:
        self._contract = hosted.contract
        self._module = getattr(_stubs(), f"{self._contract}_v1")
        interface = getattr(self._module, self._contract.capitalize())
        self._object = orb().string_to_object(hosted.ior)._unchecked_narrow(interface)
        self.interface = interface
        assert self._object is not None

    def is_a(self) -> bool:
        """What the service says when the ORB asks it for its interface."""
        return bool(self._object._is_a(f"IDL:wirelab/{self._contract}_v1/{self._name}:1.0"))

    @property
    def _name(self) -> str:
        return self._contract.capitalize()

    def call(self, operation: str, request: Json) -> Json:
        """See :class:`~tests.interop.golden.Client`."""
        requested = "Hello" if operation == "HelloBytes" else operation
        descriptor = protobuf.descriptor(self._contract, f"{requested}Request")
        method = getattr(self._object, operation[0].lower() + operation[1:])
        try:
            reply = method(*self._convert_outgoing(descriptor, request))
        except self._module.ApplicationError as refused:
            raise Refused(refused.message) from refused
        return _convert_incoming(protobuf.descriptor(self._contract, f"{operation}Reply"), reply)

    def _convert_outgoing(self, descriptor: Any, value: Json) -> list[Any]:
        """The values in the order of their fields, as the stubs take them."""
        sent: list[Any] = []
        for field in descriptor.fields:
            given = value.get(field.name, [] if field.is_repeated else field.default_value)
            if field.is_repeated:
                made = getattr(self._module, field.message_type.name)
                sent.append(
                    [made(*self._convert_outgoing(field.message_type, item)) for item in given]
                )
            elif field.type == field.TYPE_BYTES:
                sent.append(base64.b64decode(given))
            else:
                sent.append(given)
        return sent


def _convert_incoming(descriptor: Any, struct: Any) -> Json:
    read: Json = {}
    for field in descriptor.fields:
        found = getattr(struct, field.name)
        if field.is_repeated:
            read[field.name] = [_convert_incoming(field.message_type, item) for item in found]
        elif field.type == field.TYPE_BYTES:
            read[field.name] = base64.b64encode(found).decode()
        else:
            read[field.name] = found
    return read
