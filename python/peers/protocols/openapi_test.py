"""Validates docs/openapi.json as the service serves it."""

import unittest

import requests
from openapi_spec_validator import validate

from service import ServiceTest


class OpenApi(ServiceTest):
    def test_the_document_is_valid(self):
        validate(requests.get(self.url + "/openapi.json").json())


if __name__ == "__main__":
    unittest.main()
