from bonus.display import money, rate_text
from bonus.law.meter_terms import MeterTerms


def pool_mismatch(game: str, terms: MeterTerms, other: str, others: MeterTerms) -> str:
    names = ("seed", "reseed", "primary rate", "reserve rate")
    differing = [
        (name, here, there)
        for name, here, there in zip(names, terms.pool, others.pool, strict=True)
        if here != there
    ]
    name, here, there = differing[0]
    shown = money if name.endswith("seed") else rate_text
    return (
        f"{game} and {other} cannot feed the same {terms.kind} meter: its {name} is {shown(here)}"
        f" in {game}, but {shown(there)} in {other}"
    )
