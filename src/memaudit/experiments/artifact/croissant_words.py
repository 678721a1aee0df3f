"""The fixed parts of the Croissant metadata: its vocabulary, and its words on responsible use."""

from collections.abc import Mapping

CONTEXT: Mapping[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
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
"""The terms of Croissant 1.0."""

RESPONSIBLE: Mapping[str, object] = {
    "rai:dataCollection": (
        "Generated from seeds, and from 26 invented conversations written by a language model."
    ),
    "rai:dataAnnotationProtocol": [
        "Coverage of generated packages is part of the generator. Coverage of the natural set was "
        "labelled by a language model, and twice more blindly; no person adjudicated it."
    ],
    "rai:dataUseCases": [
        "Comparing memory writers on the same packages and budgets; checking solvers and labels. "
        "Not a measure of answer accuracy, and no ranking of products."
    ],
    "rai:dataLimitations": [
        "Small packages; ratios are conditional on candidates, costs, labels and budget."
    ],
    "rai:dataBiases": ["One author wrote the texts and the labels of the natural set."],
    "rai:personalSensitiveInformation": ["None: all people and events are fictional."],
}
