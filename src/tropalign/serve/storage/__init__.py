"""The server's storage: content-addressed files, jobs and their queue, tokens, databases of targets, an audit log."""

from tropalign.serve.storage.files import TooLarge
from tropalign.serve.storage.jobs import TooMany, TooMuch
from tropalign.serve.storage.storage import Storage
from tropalign.serve.storage.uploads import TooMuchSent

__all__ = ["Storage", "TooLarge", "TooMany", "TooMuch", "TooMuchSent"]
