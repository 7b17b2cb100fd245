"""SARIF 2.1.0: the parts of its schema that matter, and what code scanning reads."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from tests.lint_by_hand import linted

from seedstall.render.sarif import render
from seedstall.rules.lint import ALL

MESSAGE = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}},
    "required": ["text"],
}
ARTIFACT = {
    "type": "object",
    "properties": {
        "uri": {"type": "string", "format": "uri-reference", "pattern": r"^[!-~]+$"},
        "uriBaseId": {"type": "string"},
    },
    "required": ["uri"],
    "additionalProperties": False,
}
REGION = {
    "type": "object",
    "properties": {
        "startLine": {"type": "integer", "minimum": 1},
        "endLine": {"type": "integer", "minimum": 1},
        "snippet": {"type": "object", "required": ["text"]},
    },
    "required": ["startLine"],
    "additionalProperties": False,
}
LOCATION = {
    "type": "object",
    "properties": {
        "physicalLocation": {
            "type": "object",
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
            "required": ["artifactLocation", "region"],
            "additionalProperties": False,
        }
    },
    "required": ["physicalLocation"],
    "additionalProperties": False,
}
FIX = {
    "type": "object",
    "properties": {
        "description": MESSAGE,
        "artifactChanges": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "artifactLocation": ARTIFACT,
                    "replacements": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {
                                "deletedRegion": REGION,
                                "insertedContent": {
                                    "type": "object",
                                    "properties": {"text": {"type": "string"}},
                                },
                            },
                            "required": ["deletedRegion"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["artifactLocation", "replacements"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["artifactChanges"],
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "items": LOCATION, "minItems": 1},
        "relatedLocations": {"type": "array", "items": LOCATION},
        "fixes": {"type": "array", "items": FIX, "minItems": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object"},
    },
    "required": ["message", "ruleId", "locations", "partialFingerprints"],
    "additionalProperties": False,
}
RULE = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string", "pattern": "^[A-Z][A-Za-z0-9]+$"},
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": {
            "type": "object",
            "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
        },
        "properties": {"type": "object"},
    },
    "required": ["id", "shortDescription", "help"],
    "additionalProperties": False,
}
NOTIFICATION = {
    "type": "object",
    "properties": {"level": {"enum": ["none", "note", "warning", "error"]}, "message": MESSAGE},
    "required": ["message"],
    "additionalProperties": False,
}
RUN = {
    "type": "object",
    "properties": {
        "tool": {
            "type": "object",
            "properties": {
                "driver": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "version": {"type": "string"},
                        "rules": {"type": "array", "items": RULE, "uniqueItems": True},
                    },
                    "required": ["name"],
                    "additionalProperties": False,
                }
            },
            "required": ["driver"],
            "additionalProperties": False,
        },
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {"type": "object"},
        "invocations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "executionSuccessful": {"type": "boolean"},
                    "toolExecutionNotifications": {"type": "array", "items": NOTIFICATION},
                },
                "required": ["executionSuccessful"],
                "additionalProperties": False,
            },
        },
        "results": {"type": "array", "items": RESULT},
    },
    "required": ["tool", "results"],
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN, "minItems": 1},
    },
    "required": ["version", "runs"],
    "additionalProperties": False,
}
"""Written from the OASIS standard (sarif-v2.1.0-os): every property used, none that it does not know."""

WRONG = (
    'FROM openjdk:17\nENTRYPOINT ["java", "-jar", "/a.jar", "-Djava.security.egd=/dev/urandom"]\n'
)


def told(files: dict[str, bytes | str]) -> dict[str, Any]:
    document = json.loads(render(linted(files), ALL))
    jsonschema.validate(document, SARIF)
    run: dict[str, Any] = document["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def test_a_finding_at_its_line_with_the_corrected_one() -> None:
    (result,) = told({"app/Dockerfile": WRONG})["results"]
    place = result["locations"][0]["physicalLocation"]

    assert (result["ruleId"], result["level"]) == ("SS203", "warning")
    assert place["artifactLocation"] == {"uri": "app/Dockerfile", "uriBaseId": "%SRCROOT%"}
    assert place["region"]["startLine"] == 2
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 2, "endLine": 2}
    assert replacement["insertedContent"]["text"] == (
        'ENTRYPOINT ["java", "-Djava.security.egd=file:/dev/urandom", "-jar", "/a.jar"]'
    )


def test_every_family_is_valid() -> None:
    from tests.rules.lint.test_expectations import CASES, FOLDER

    for case in CASES:
        told({name: (FOLDER / name).read_bytes() for name in case["files"]})


def test_names_are_addresses() -> None:
    run = told(
        {
            "a b/ü%.sh": "X='-Djava.security.edg=file:/dev/urandom'",
            "/abs/b.sh": "X='-Djava.security.edg=/dev/random'",
        }
    )
    found = {
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]
    }

    assert found == {"a%20b/%C3%BC%25.sh", "file:///abs/b.sh"}


def test_a_fingerprint_stays_where_the_line_moves() -> None:
    line = "X='-Djava.security.edg=file:/dev/urandom'\n"
    first = told({"a.sh": line})["results"][0]["partialFingerprints"]

    assert told({"a.sh": "\n\n" + line})["results"][0]["partialFingerprints"] == first
    assert told({"b.sh": line})["results"][0]["partialFingerprints"] != first


def test_what_was_not_looked_at_is_told() -> None:
    run = told({"a.bin": b"\0"})
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]

    assert run["results"] == []
    assert "a.bin" in notification["message"]["text"]


def test_a_fix_that_is_no_line_is_left_out() -> None:
    (result,) = told({"a.sh": "java -Dsecurerandom.strongAlgorithms=DRBG:SUN -jar x"})["results"]

    assert "fixes" not in result
