"""Whatever is sent, the server answers in good order: requests made up from the description, right and wrong ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from starlette.testclient import TestClient

from perfectplay.web.app import make_app
from perfectplay.web.library import Library
from perfectplay.web.openapi import description


def _schema_for_tests() -> Any:
    """The description with real games' names, so that most requests get past the path."""
    document = copy.deepcopy(description())
    for path, item in document["paths"].items():
        if path.startswith("/api/{game}"):
            item["parameters"][0]["schema"] = {"enum": ["tictactoe", "stones", "gobblet", "nobody"]}
        if path.endswith("/solve"):
            del item["post"]  # solving Gobblet is not for a fuzzer
    return schemathesis.openapi.from_dict(document)


schema = _schema_for_tests()


@pytest.fixture(scope="module")
def fuzzed(library: Library) -> TestClient:
    return TestClient(make_app(library), raise_server_exceptions=False)


@schema.parametrize()
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_breaks_the_server(case: Any, fuzzed: TestClient) -> None:
    response = case.call(session=fuzzed, base_url="http://testserver")
    assert response.status_code < 500, response.text
    assert response.headers["content-type"].startswith("application/json")
    if response.status_code in (200, 202):
        case.validate_response(response, checks=[schemathesis.checks.load_all_checks and _matches])


def _matches(context: Any, response: Any, case: Any) -> None:
    case.operation.validate_response(response, case=case)
