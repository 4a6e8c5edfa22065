from tests.naive.declared import refusal
from tests.naive.settle_649a import settle_three_card_poker
from tests.naive.settle_primes import (
    return_everything,
    settle_four_card_prime,
    settle_three_card_prime,
)
from tests.naive.shapes import RefusedError, Round, Settlement


def settle(played: Round) -> Settlement:
    """Settle in paying order; raise RefusedError if a declared hand's cards are needed."""
    is_void = played.get("irregularity") == "void" or (
        "irregularity" in played and played["game"] == "three_card_poker"
    )
    if not is_void and (code := refusal(played)):
        raise RefusedError(code)
    if played["game"] == "three_card_poker":
        return settle_three_card_poker(played)
    if played.get("irregularity") == "void":
        return return_everything(played)
    if played["game"] == "three_card_prime":
        return settle_three_card_prime(played)
    return settle_four_card_prime(played)
