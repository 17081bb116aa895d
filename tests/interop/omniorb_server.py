"""A server of omniORB: ``omniorb_server.py FOLDER CONTRACT``, the stubs are in FOLDER.

Prints its IOR and serves until standard input ends. It has one account, with the contract
``charging``; ``transfer`` greets with a text of 3 MB.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from typing import Any

HELLO_BYTES = 3_000_000
BALANCE = 1_000_000_000


def transfer(module: Any, skeletons: Any, text: str) -> Any:
    """The contract ``transfer``, without Submit."""

    class Transfer(skeletons.Transfer):  # type: ignore[misc]
        def hello(self) -> Any:
            return module.HelloReply(text)

        def helloBytes(self) -> Any:
            return module.HelloBytesReply(text.encode())

        def submit(self, batch: str, records: Any) -> Any:
            raise module.ApplicationError("batch must not be empty")

        def upload(self, data: bytes) -> Any:
            return module.UploadReply(len(data), hashlib.sha256(data).hexdigest())

    return Transfer()


def make_charging(module: Any, skeletons: Any) -> Any:
    """The contract ``charging``, as far as its functions need it."""

    class Charging(skeletons.Charging):  # type: ignore[misc]
        def __init__(self) -> None:
            self.balance, self.reserved, self.last = BALANCE, 0, 0
            self.confirmations: set[int] = set()
            self.reservations: dict[int, int] = {}

        def credit(self, account: int, am: int) -> Any:
            self._account(account)
            self.balance += am
            return module.CreditReply(self._confirmation())

        def directDebit(self, account: int, am: int) -> Any:
            self._account(account)
            self.balance -= am
            return module.DirectDebitReply(self._confirmation())

        def reserve(self, account: int, am: int) -> Any:
            self._account(account)
            self.last += 1
            self.reservations[self.last] = am
            self.reserved += am
            return module.ReserveReply(self.last, self._confirmation())

        def debitReservation(self, account: int, am: int, res: int) -> Any:
            self._account(account)
            self._release(res)
            self.balance -= am
            return module.DebitReservationReply(self._confirmation())

        def releaseRes(self, res: int) -> Any:
            self._release(res)
            return module.ReleaseResReply(self._confirmation())

        def creditControl(self, account: int) -> Any:
            self._account(account)
            return module.CreditControlReply(self.balance, self.reserved)

        def confirmAction(self, cn: int) -> Any:
            if cn not in self.confirmations:
                raise module.ApplicationError("unknown confirmation")
            self.confirmations.remove(cn)
            return module.ConfirmActionReply(cn)

        def _account(self, number: int) -> None:
            if number != 1:
                raise module.ApplicationError("no such account")

        def _confirmation(self) -> int:
            self.last += 1
            self.confirmations.add(self.last)
            return self.last

        def _release(self, reservation: int) -> None:
            if reservation not in self.reservations:
                raise module.ApplicationError("unknown reservation")
            self.reserved -= self.reservations.pop(reservation)

    return Charging()


def main(folder: str, contract: str, *options: str) -> None:
    """Serves the contract."""
    from tests.interop import golden

    sys.path.insert(0, folder)
    corba = importlib.import_module("omniORB.CORBA")
    module = getattr(importlib.import_module("wirelab_idl.wirelab"), f"{contract}_v1")
    skeletons = getattr(importlib.import_module("wirelab_idl.wirelab__POA"), f"{contract}_v1")
    orb = corba.ORB_init(["server", *options], corba.ORB_ID)
    made = (
        make_charging(module, skeletons)
        if contract == "charging"
        else transfer(module, skeletons, golden.text(HELLO_BYTES))
    )
    poa = orb.resolve_initial_references("RootPOA")
    poa.activate_object(made)
    poa._get_the_POAManager().activate()
    print(orb.object_to_string(made._this()), flush=True)
    sys.stdin.read()
    orb.destroy()


if __name__ == "__main__":
    main(*sys.argv[1:])
