"""croissant.json: the data set in the words of MLCommons' Croissant 1.0, for catalogues and loaders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import harness
from harness.plugins.hub.card import TITLE, Parts, sources

_TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float", bool: "sc:Boolean", list: "sc:Text"}
_URLS = {
    "mit": "https://spdx.org/licenses/MIT",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-3.0": "https://creativecommons.org/licenses/by-sa/3.0/",
}
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the specification gives (Croissant 1.0, Appendix 1), as mlcroissant 1.1 has it."""


def croissant(parts: Parts, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the description; `digests` holds the SHA-256 of each file by its path."""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": TITLE,
        "description": "Questions about causes whose answers follow by rule, with all label sets.",
        "license": list(dict.fromkeys(_URLS[configuration.licence] for configuration in parts)),
        "citeAs": "; ".join(sources(parts)),
        "version": harness.__version__,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "contentUrl": path,
                "encodingFormat": "application/x-parquet",
                "sha256": digest,
            }
            for path, digest in digests.items()
        ],
        "recordSet": [
            _record_set(f"{configuration.id_of(split)}{f'_{number}' if number else ''}", path, columns)
            for configuration, (_, files, columns) in parts.items()
            for split, paths in files.items()
            for number, path in enumerate(paths)
        ],
    }


def _record_set(name: str, path: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "dataType": _TYPES[kind],
                **({"repeated": True} if kind is list else {}),
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, kind in columns.items()
        ],
    }
