"""Test a session store for everything that Recollect relies on, for any store that implements the protocol.

    from recollect.testing.store_contract import run_store_contract

    def test_my_store(tmp_path):
        places = itertools.count()
        asyncio.run(run_store_contract(lambda: MyStore(tmp_path / str(next(places)))))

`make_store` returns an empty store, each time another one. Contracts about methods that the store does not have are
skipped. `reopen` (for stores that outlive the process) returns a second store object over the same data. For a separate
test of each contract: parametrize over `CONTRACTS` and call `check_contract`.

The contracts cover more than the SDK's own conformance suite: own copies, edge cases of JSON, similar names, concurrent
tasks, repeated batches, keys that try to escape.
"""

from __future__ import annotations

from collections.abc import Iterable

from .store_promises import CONTRACTS, Contract, ContractBroken, Make, Reopen, Trial, has_method

__all__ = ["CONTRACTS", "Contract", "ContractBroken", "Trial", "check_contract", "run_store_contract"]


async def check_contract(name: str, make_store: Make, *, reopen: Reopen | None = None) -> bool:
    """Check one contract. Returns False if the store lacks the methods for it; raises ContractBroken if the check fails."""
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
    """Check all contracts but those in `skip`. Returns which were checked; raises ContractBroken with all failures."""
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
