"""The contract charging, whatever it is spoken over: contracts/README.md."""

from __future__ import annotations

import threading

INT32_MAX = 2**31 - 1
KEPT_MAX = 1_000_000
"""Unconfirmed actions, and reservations."""


class ApplicationError(Exception):
    """What the contract calls an application error; its text is the answer."""


class Accounts:
    """The state of charging. Every operation is atomic: one lock, held for all of it."""

    def __init__(self, accounts: int, balance: int) -> None:
        self._lock = threading.Lock()
        self._balance = [balance] * accounts
        self._reserved = [0] * accounts
        self._reservations: dict[int, tuple[int, int]] = {}
        self._unconfirmed: set[int] = set()
        self._given = 0

    def credit(self, account: int, am: int) -> dict[str, int]:
        with self._lock:
            place = self._place(account, am)
            if self._balance[place] + am > INT32_MAX:
                raise ApplicationError(f"balance must not exceed {INT32_MAX}")
            cn = self._confirmation()
            self._balance[place] += am
            return {"cn": cn}

    def direct_debit(self, account: int, am: int) -> dict[str, int]:
        with self._lock:
            place = self._able(account, am)
            cn = self._confirmation()
            self._balance[place] -= am
            return {"cn": cn}

    def reserve(self, account: int, am: int) -> dict[str, int]:
        with self._lock:
            place = self._able(account, am)
            self._room_for_action()
            if len(self._reservations) >= KEPT_MAX:
                raise ApplicationError("too many reservations")
            res, cn = self._number(), self._confirmation()
            self._reserved[place] += am
            self._reservations[res] = place, am
            return {"res": res, "cn": cn}

    def debit_reservation(self, account: int, am: int, res: int) -> dict[str, int]:
        with self._lock:
            place = self._place(account, am)
            owner, aside = self._reservations.get(res, (None, 0))
            if owner != place:
                raise ApplicationError("unknown reservation")
            if am > aside:
                raise ApplicationError("not enough credit")
            cn = self._confirmation()
            del self._reservations[res]
            self._balance[place] -= am
            self._reserved[place] -= aside
            return {"cn": cn}

    def release_res(self, res: int) -> dict[str, int]:
        with self._lock:
            if res not in self._reservations:
                raise ApplicationError("unknown reservation")
            cn = self._confirmation()
            place, aside = self._reservations.pop(res)
            self._reserved[place] -= aside
            return {"cn": cn}

    def credit_control(self, account: int) -> dict[str, int]:
        with self._lock:
            place = self._place(account)
            return {"balance": self._balance[place], "reserved": self._reserved[place]}

    def confirm_action(self, cn: int) -> dict[str, int]:
        with self._lock:
            if cn not in self._unconfirmed:
                raise ApplicationError("unknown confirmation")
            self._unconfirmed.remove(cn)
            return {"cn": cn}

    def money(self) -> int:
        """The sum of all balances."""
        with self._lock:
            return sum(self._balance)

    def _place(self, account: int, am: int = 1) -> int:
        if am <= 0:
            raise ApplicationError("amount must be positive")
        if not 1 <= account <= len(self._balance):
            raise ApplicationError("no such account")
        return account - 1

    def _able(self, account: int, am: int) -> int:
        """The place of an account that can spare so much."""
        place = self._place(account, am)
        if self._balance[place] - self._reserved[place] < am:
            raise ApplicationError("not enough credit")
        return place

    def _room_for_action(self) -> None:
        if len(self._unconfirmed) >= KEPT_MAX:
            raise ApplicationError("too many unconfirmed actions")

    def _confirmation(self) -> int:
        """A new number; called before anything changes, since it may be refused."""
        self._room_for_action()
        cn = self._number()
        self._unconfirmed.add(cn)
        return cn

    def _number(self) -> int:
        self._given += 1
        return self._given
