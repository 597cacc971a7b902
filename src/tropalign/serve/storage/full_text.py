"""Full-text search over jobs with FTS5 in SQLite and tsvector in PostgreSQL, and the same tokenisation for both.

Words are split here rather than by the engines: letters and digits, in lower case, without accents. Therefore user
input is never query syntax, and ``proteins`` finds ``proteins.fa`` in both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    cast,
    delete,
    func,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from tropalign.serve.storage.database import is_postgresql
from tropalign.serve.storage.schema import clean, job_words

#: Maximum distinct words per job, and significant characters of a word.
MOST_WORDS, MOST_LETTERS = 20_000, 60
#: Maximum total bytes of a job's words; a tsvector holds a megabyte.
MOST_BYTES = 600_000
#: Maximum words of a query.
MOST_ASKED = 20
_WORD = re.compile(r"[^\W_]+")
#: The FTS5 table, for queries.
_fts = Table("job_words", MetaData(), Column("rowid", Integer), Column("words", Text))


def words_of(*texts: str) -> list[str]:
    """Return the distinct words of texts, in order of first occurrence.

    >>> words_of("Protéines_A.fa, proteines", "x")
    ['proteines', 'a', 'fa', 'x']
    """
    found: dict[str, None] = {}
    n_bytes = 0
    for words in texts:
        plain = "".join(
            letter for letter in unicodedata.normalize("NFKD", clean(words)) if not unicodedata.combining(letter)
        )
        for match in _WORD.finditer(plain.casefold()):
            word = match.group()[:MOST_LETTERS]
            n_bytes += 0 if word in found else len(word.encode())
            if len(found) == MOST_WORDS or n_bytes > MOST_BYTES:
                return list(found)
            found[word] = None
    return list(found)


def write_words(connection: Connection, job: int, texts: Iterable[str]) -> None:
    """Replace the words of a job in the search index."""
    remove_words(connection, job)
    words = words_of(*texts)
    if is_postgresql(connection):
        array = func.array_to_tsvector(cast(words, ARRAY(Text)))
        connection.execute(job_words.insert().values(job=job, words=array))
    else:
        connection.execute(
            text("INSERT INTO job_words (rowid, words) VALUES (:job, :words)"), {"job": job, "words": " ".join(words)}
        )


def remove_words(connection: Connection, job: int) -> None:
    """Remove a job from the search index."""
    if is_postgresql(connection):
        connection.execute(delete(job_words).where(job_words.c.job == job))
    else:
        connection.execute(text("DELETE FROM job_words WHERE rowid = :job"), {"job": job})


def found_by(connection: Connection, question: str) -> Select[tuple[int]] | None:
    """Return the query for jobs with all words of a question, the last one as a prefix; None for an empty question."""
    words = words_of(question)[:MOST_ASKED]
    if not words:
        return None
    if is_postgresql(connection):
        query = " & ".join(f"'{word}'" for word in words) + ":*"
        # The text is cast to lexemes without parsing; '...' contains only letters and digits.
        asked = cast(cast(query, String), TSQUERY)
        return select(job_words.c.job).where(job_words.c.words.op("@@")(asked))
    query = " AND ".join(f'"{word}"' for word in words) + " *"
    return select(_fts.c.rowid).where(text("job_words MATCH :asked").bindparams(asked=query))
