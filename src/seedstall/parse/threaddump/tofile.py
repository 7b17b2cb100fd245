from __future__ import annotations
from seedstall.model.threads import ThreadDump
from seedstall.parse.text import Text
def is_to_file(data: bytes) -> bool: return False
def to_file_dumps(text: Text, origin: str) -> tuple[ThreadDump, ...]: return ()
