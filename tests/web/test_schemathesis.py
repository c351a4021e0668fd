"""Requests generated from the OpenAPI document, valid and invalid ones: the server never fails."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from perfectplay.web.api import OPERATIONS
from perfectplay.web.operations import describe


def _schema_for_tests() -> Any:
    """Return the document with names of real games, so that most requests reach an endpoint."""
    document = describe(OPERATIONS)
    for path, item in document["paths"].items():
        if path.startswith("/api/{game}"):
            item["parameters"][0]["schema"] = {"enum": ["tictactoe", "stones", "gobblet", "unknown"]}
        if path.endswith("/solve"):
            del item["post"]  # a fuzzer must not solve Gobblet
    return schemathesis.openapi.from_dict(document)


schema = _schema_for_tests()


@schema.parametrize()
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_server(case: Any, small_server: str) -> None:
    """No answer is a 5xx, and every answer matches its schema."""
    case.call_and_validate(base_url=small_server, checks=[not_a_server_error, response_schema_conformance])
