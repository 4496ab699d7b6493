"""The exam for session stores: what Recollect relies on, for any store that speaks the protocol.

    from recollect.testing.store_contract import run_store_contract

    def test_my_store(tmp_path):
        places = itertools.count()
        asyncio.run(run_store_contract(lambda: MyStore(tmp_path / str(next(places)))))

`make_store` gives a store with nothing in it, each time another one. Contracts about methods that the store does not have
are left out. `reopen` (for stores that outlive the process) gives a second store object over the same data. For a test
of its own for each contract: parametrize over `CONTRACTS` and call `check_contract`.

It asks more than the SDK's own conformance suite: own copies, JSON at its edges, names that look alike, tasks at the same
time, batches that come twice, keys that try to lead elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import store_listing_promises as _listing
from . import store_promises as _promises
from .store_trial import CONTRACTS, Contract, ContractBroken, Make, Reopen, Trial, has_method

__all__ = ["CONTRACTS", "Contract", "ContractBroken", "Trial", "check_contract", "run_store_contract"]

_WHERE_THE_CONTRACTS_ARE = (_promises, _listing)
"""Imported because they enter their checks into `CONTRACTS`."""


async def check_contract(name: str, make_store: Make, *, reopen: Reopen | None = None) -> bool:
    """Check one contract. False where the store has not the methods for it; ContractBroken where it fails."""
    asked, trial = CONTRACTS[name], Trial(make_store, reopen)
    for need in asked.needs:
        if need == "reopen":
            if reopen is None:
                return False
        elif not await has_method(trial, need):
            return False
    try:
        await asked.check(trial)
    except ContractBroken as problem:
        raise ContractBroken(f"{name}: {asked.promise}\n  {problem}") from None
    except Exception as problem:
        raise ContractBroken(f"{name}: {asked.promise}\n  raised {type(problem).__name__}: {problem}") from problem
    return True


async def run_store_contract(
    make_store: Make, *, reopen: Reopen | None = None, skip: Iterable[str] = ()
) -> dict[str, bool]:
    """Check all contracts but those named in `skip`. Returns which were checked; raises ContractBroken with all failures."""
    left_out = set(skip)
    if left_out - set(CONTRACTS):
        raise ValueError(f"no such contract: {', '.join(sorted(left_out - set(CONTRACTS)))}")
    checked, broken = {}, []
    for name in CONTRACTS:
        if name in left_out:
            checked[name] = False
            continue
        try:
            checked[name] = await check_contract(name, make_store, reopen=reopen)
        except ContractBroken as problem:
            broken.append(str(problem))
    if broken:
        raise ContractBroken(f"{len(broken)} of {len(CONTRACTS)} contracts are broken\n" + "\n".join(broken))
    return checked
