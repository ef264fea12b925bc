"""Validates the Kubernetes manifests of deploy/ by the package kubernetes-validate, which has the schemas of Kubernetes's API."""

import pathlib
import unittest

import kubernetes_validate
import yaml

MANIFESTS = pathlib.Path(__file__).resolve().parents[3] / "deploy/kubernetes"
VERSION = "1.31"


def objects():
    return [(path.name, each) for path in sorted(MANIFESTS.glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())]


class Manifests(unittest.TestCase):
    def test_follow_the_schemas_of_kubernetes(self):
        self.assertGreaterEqual(len(objects()), 5)
        for name, each in objects():
            with self.subTest(f"{name}: {each['kind']} {each['metadata']['name']}"):
                kubernetes_validate.validate(each, VERSION, strict=True)

    def test_a_misspelt_member_would_be_found(self):
        _, each = objects()[0]
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate({**each, "speck": {}}, VERSION, strict=True)


if __name__ == "__main__":
    unittest.main()
