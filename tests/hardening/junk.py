"""Values that no honest program writes, as bytes inside JSON, and texts of that kind."""

import json

TEXTS: tuple[str, ...] = (
    "", " ", "x", "\u0000", "a\u0000b.json", "\u202eevil\u2066", "\x1b[31mred\x1b]0;title\x07",
    "a\nb",
    "\r\n", "..", ".", "../../etc/passwd", "/etc/passwd", "/dev/zero", "../..", "a/b", "a\\b",
    "..\\..\\x", "~", "~root", "file:///etc/passwd", "CON", "name.json", "manifest.json", ".lock",
    "=1+1", "'", '"; DROP TABLE x; --', "%s%n%x", "{0}", "{{7*7}}", "<script>alert(1)</script>",
    "1/0", "1/3", "nan", "inf", "-inf", "1e999999999", "1e-999999999", "0x10", "1_000",
    "\u0661\u0662",
    "-0", "+1", ".5", "1.", "9" * 61, "9" * 5000, f"1/{'7' * 59}", "::", "::" * 50, "x::y", "true",
    "null", "2025-02-30", "0000-00-00T00:00:00Z", "9999999999999999999", "tokens:hf//etc/hostname",
    "tokens:hf//dev/zero", "tokens:hf/" + "n" * 5000, "tokens:tiktoken/x", "words", "bytes",
    "declared", "n" * 300, "e\u0301" * 30, "\U0001f600", "\ufeff", "\uffff", "x" * 1_000_001,
    "../" * 400, "[" * 2000, "{" * 70_000, "[]", "{}", '{"a": 1}', "[[[[1]]]]",
)  # fmt: skip
"""As values, ids, names and keys; the last ones are JSON inside a string."""

DEEP = (100, 400, 900, 5000, 100_000)


def _nested(open: bytes, middle: bytes, close: bytes, depth: int) -> bytes:
    return open * depth + middle + close * depth


_BARE: tuple[bytes, ...] = (
    b"null", b"true", b"false", b"0", b"-0", b"-1", b"1", b"2", b"0.5", b"1.5", b"1e400", b"-1e400",
    b"1e-400", b"1e308", b"1e999999999999999999999", b"1E5", b"NaN", b"Infinity", b"-Infinity",
    b"9" * 59, b"9" * 61, b"9" * 4299, b"9" * 5000, b"9" * 100_000, b"0." + b"3" * 5000,
    b"18446744073709551616", b"-9223372036854775809", b"00", b"1.", b"+1", b"0x10", b"undefined",
    b"'x'", b"tru", b"", b",", b"}", b"]", b"//", b"/**/", b"\\",
    b"[]", b"{}", b"[[]]", b"[null]", b'{"": null}', b'{"id": 1}', b'{"a": 1, "a": 2}',
    b"[" + b"0," * 9999 + b"0]", b"[" + b"[]," * 9999 + b"[]]",
    b"{" + b",".join(b'"k%d": 0' % number for number in range(5000)) + b"}",
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b'"\xff\xfe"', b'"\xc0\xaf"',
    b'"\xed\xa0\x80"',
    b'"\\x"', b'"\\u12"', b'"unclosed', b'"\x01"', b'"\xf4\x90\x80\x80"',
    *(_nested(b"[", b"", b"]", depth) for depth in DEEP),
    *(_nested(b'{"a":', b"1", b"}", depth) for depth in DEEP),
    b"[" * 100_000, b'{"a":' * 100_000,
)  # fmt: skip

VALUES: tuple[bytes, ...] = (*_BARE, *(json.dumps(text).encode() for text in TEXTS))
"""JSON values, or what stands in their place."""
