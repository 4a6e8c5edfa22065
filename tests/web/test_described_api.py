"""Every answer of the running service matches its own OpenAPI document, for every user."""

from pathlib import Path

import pytest

from tests.mqtt.stand import Stand
from tests.web.described_api import NOBODY, ROLES, DescribedApi

EXAMPLES = 6
SEED = 1


@pytest.mark.slow
def test_the_service_answers_as_it_describes_and_never_with_an_error_of_its_own(
    tmp_path: Path,
) -> None:
    with Stand(tmp_path) as stand:
        api = DescribedApi(stand)
        operations = list(api.operations())
        for operation in operations:
            api.try_operation(operation, EXAMPLES, SEED)
        errors = stand.service.process.errors
        assert stand.service.audit()["balanced"]
    assert "Traceback" not in errors
    assert "request failed" not in errors
    assert len(operations) > 25
    for operation in operations:
        statuses = {status for label, status in api.answers if label == operation.label}
        assert statuses - {401, 403}, f"nobody got past the gate of {operation.label}"
    assert set(api.answered) == {NOBODY, *ROLES}
